"""Databases, SQLite or PostgreSQL: engines, migrations, and the words of their errors."""
