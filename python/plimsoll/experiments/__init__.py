"""One file per question: an experiment drives a load source and probes, and writes a run; it reads no clock."""
