"""`plimsoll run`: a k6 script as it is, with k6's flags, summary and exit codes."""
