"""How servers are made to read again the files that being told of changes is not enough for."""
