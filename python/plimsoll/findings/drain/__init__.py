"""Does the asynchronous consumer keep up? The findings of a run of drain."""
