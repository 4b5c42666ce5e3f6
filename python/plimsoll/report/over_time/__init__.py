"""The charts that share one time axis: the bins they show, what they have in common, steps, events and the heat map."""
