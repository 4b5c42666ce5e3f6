"""Lets the tests of this folder import the invented run, whatever import mode pytest runs in, and checks each chart
that they make."""

from __future__ import annotations

import sys
from pathlib import Path

from vega_lite_schema import checked_charts  # noqa: F401

sys.path.insert(0, str(Path(__file__).parent))
