"""Language servers behind the narrow waist: `session.Session` is one running server."""
