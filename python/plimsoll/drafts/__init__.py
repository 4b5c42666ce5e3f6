"""First drafts of a study and its script, from what is there already: an access log, a recording, an OpenAPI
description, a URL.

log_lines → access_log → sessions, paths, tallies → log_mix ┐
recording → correlation → recorded ─────────────────────────┼→ draft → script_text, flow_text, study_text → files
descriptions → asking → described ──────────────────────────┘
"""
