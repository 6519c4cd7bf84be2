"""What a server's answers may miss: projects not searched, excluded files, files with syntax errors."""
