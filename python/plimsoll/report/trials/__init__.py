"""What the page shows of experiments made of trials: compare, decompose and sweep."""
