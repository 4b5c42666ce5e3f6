"""How much does it carry: the searches for the capacity, and what they know and hand back."""
