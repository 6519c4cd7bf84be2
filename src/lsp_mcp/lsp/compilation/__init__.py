"""What a build compiles, for servers that index by a compilation database: which files, what includes what, where."""
