"""What changes with time or with the volume of data."""
