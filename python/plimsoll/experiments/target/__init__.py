"""The target under control: its commands, what they leave behind, and the cores that it gets."""
