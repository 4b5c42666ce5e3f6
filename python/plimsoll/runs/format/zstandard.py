"""Zstandard: Python's own module from 3.14 on, before that its backport, which has the same names."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdError,
        ZstdFile,
    )
else:
    from backports.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdError,
        ZstdFile,
    )

__all__ = [
    "MAGIC",
    "CompressionParameter",
    "DecompressionParameter",
    "ZstdCompressor",
    "ZstdDecompressor",
    "ZstdError",
    "ZstdFile",
]

MAGIC = b"\x28\xb5\x2f\xfd"  # the first bytes of each frame
