"""The verbs as functions, one file for each kind: what the command line does, for Python."""
