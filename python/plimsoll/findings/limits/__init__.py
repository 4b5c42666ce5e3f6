"""What stops it? Each cause of a limit in a file of its own; what_stops.py has their order."""
