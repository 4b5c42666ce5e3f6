"""How fast a consumer works, whether it keeps up, and what an item costs it."""
