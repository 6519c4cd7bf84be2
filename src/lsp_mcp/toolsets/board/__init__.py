"""The tools of the project board (seeds/002)."""
