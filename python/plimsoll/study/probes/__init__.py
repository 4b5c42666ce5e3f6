"""The entries of a study's `probes`: what is watched beside the load, and how it is reached."""
