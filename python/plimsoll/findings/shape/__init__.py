"""What a finding looks like as JSON: its fields with their units, from which the published schema and the `units` of
each finding are made."""
