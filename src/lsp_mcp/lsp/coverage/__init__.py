"""What a server's answers may miss: projects not searched, files left out, files that cannot be parsed."""
