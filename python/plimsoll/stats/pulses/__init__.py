"""What comes back, or comes in bursts."""
