"""Can it be believed? What the generator, the host and the script's own limits do to a conclusion."""
