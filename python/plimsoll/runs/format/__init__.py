"""How a run directory's files are written and read: lines, columns, compression, damage."""
