"""Which functions of a process work, by sampling it: py-spy for Python, perf for native programs, pprof for Go.

`profile`: what all give; `tools`: the two programs; `pprof`: the pages of a Go program and their format; `steps`: when.
"""

from __future__ import annotations

from plimsoll.probes.profiling.steps import StepProfiles

__all__ = ["StepProfiles"]
