"""The runs that were kept on disk: what there is, deleting it, and taking it elsewhere as one file."""
