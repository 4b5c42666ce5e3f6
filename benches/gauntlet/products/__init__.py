"""The products, one file each: where it comes from, how it is started with seeded data, and its users' script."""
