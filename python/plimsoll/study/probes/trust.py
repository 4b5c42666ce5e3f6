"""Which certificate a probe's server may have, as keys of the entries whose url may be https."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from plimsoll.study.part import StudyPart

KEYS = ("ca_file", "insecure")


class TrustOptions(StudyPart):
    """Without any of the keys the certificate must come from an authority that this machine trusts."""

    ca_file: str | None = Field(
        default=None,
        min_length=1,
        description="certificates in PEM, below the study's folder or absolute: of an https server's authority, or its "
        "own certificate; no others are trusted then",
    )
    insecure: bool = Field(
        default=False, description="take any certificate of an https server: whoever answers gets the headers"
    )


def mistake_of_ca_file(path: Path) -> tuple[str, str] | None:
    """What is wrong with that file, and the next step; None if it holds certificates."""
    import ssl  # only where such a file is given

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except FileNotFoundError:
        return f"there is no file {str(path)!r}", "Give its path relative to the study file, or an absolute one."
    except ssl.SSLError:
        return f"{str(path)!r} holds no certificate in PEM", "Give one that begins with -----BEGIN CERTIFICATE-----."
    except OSError as error:
        return f"{str(path)!r} cannot be read ({error.strerror})", "Run as a user who may read it."
    return None
