"""What the seconds of a run show, for all that judge or draw them."""
