"""Language servers behind the narrow waist: `session.Session` is one of them, kept alive."""
