"""How much does it carry, and what follows from it: the finding of a capacity run."""
