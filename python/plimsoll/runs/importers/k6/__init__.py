"""k6's results."""
