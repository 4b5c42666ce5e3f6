"""A MariaDB or MySQL database beside the load: numbers each second, and the statements of each step.

One file a subject: `connection` (the one session), `rights`, `seconds`, `digests`, `probe`.
"""

from __future__ import annotations

from plimsoll.probes.mysql.probe import MysqlProbe

__all__ = ["MysqlProbe"]
