"""The generator's own machine and the target's host: what they have, what they use, and who else takes of it."""
