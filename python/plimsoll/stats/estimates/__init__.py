"""One quantity with its interval, and whether it keeps a limit."""
