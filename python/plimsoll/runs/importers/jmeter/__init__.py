"""JMeter's results."""
