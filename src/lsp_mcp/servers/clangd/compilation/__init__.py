"""The contents of a build, for servers that index by a compilation database: compiled files, includes, places."""
