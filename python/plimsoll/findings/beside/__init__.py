"""What is told beside an experiment's own answers."""
