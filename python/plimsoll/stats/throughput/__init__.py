"""What a target does at each level: where its throughput bends, stops or falls, and what it costs."""
