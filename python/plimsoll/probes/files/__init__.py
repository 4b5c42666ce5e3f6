"""Files of the target: its logs, and the size of its data."""
