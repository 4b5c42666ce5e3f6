"""First drafts of a study and its script, from what is there already: an access log, an OpenAPI description, a URL.

log_lines → access_log → sessions, paths, tallies → log_mix ┐
descriptions → asking → described ──────────────────────────┴→ draft → script_text, study_text → files
"""
