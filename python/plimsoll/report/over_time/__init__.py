"""The charts that share one time axis: what they have in common, the steps, the events and the heat map."""
