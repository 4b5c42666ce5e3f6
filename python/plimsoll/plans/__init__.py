"""What a verb will do: from a study or a script, and the caller's choices, to settings and engines, checked."""
