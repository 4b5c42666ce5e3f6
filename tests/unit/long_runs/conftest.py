"""Checks each chart that the tests of this folder make."""

from vega_lite_schema import checked_charts  # noqa: F401
