"""First drafts of a study and its script, from what is there already: an access log, a recording, a test plan of
JMeter, an OpenAPI description, a URL.

logs:        log_lines → access_log → sessions, tallies → log_mix ┐
recordings:  recording → correlation → recorded ──────────────────┼→ draft → script_text, flow_text, study_text → files
services:    descriptions, asking → described, pages ─────────────┤
jmeter:      plan_xml → plan_tree → walk → jmeter_script → imported ┘
"""
