"""The asynchronous consumer behind the target, and one number of the target read again and again."""
