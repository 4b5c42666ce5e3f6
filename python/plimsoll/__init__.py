"""Finds how much load a running system carries, what stops it, and how much room is left."""
