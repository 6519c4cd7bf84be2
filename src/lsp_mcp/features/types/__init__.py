"""Types above and below a type, and implementations."""
