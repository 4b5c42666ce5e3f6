"""What other tools measured: runs of seconds, and tables of levels."""
