"""Is it stable, and does it meet its objectives? The findings of a held load."""
