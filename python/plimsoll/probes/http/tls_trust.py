"""Which certificates are taken of a server that is read over https, and what a refusal means."""

from __future__ import annotations

import ssl
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.study.probes.trust import TrustOptions, mistake_of_ca_file

_HOSTNAME_MISMATCH, _IP_MISMATCH = 62, 64  # X509_V_ERR_… of OpenSSL
_EXPIRED, _NOT_YET = 10, 9


def trust_of(options: TrustOptions, url: str | None, *, key: str, directory: Path = Path()) -> ssl.SSLContext | None:
    """What the options say of an https server; None for another URL. InputError for a file without certificates."""
    if options.ca_file is not None:
        path = directory / options.ca_file
        mistake = mistake_of_ca_file(path)
        if mistake is not None:
            raise InputError(*mistake, key=f"{key}.ca_file")
    if url is None or not url.lower().startswith("https:"):
        return None
    if options.ca_file is None:
        context = ssl.create_default_context()
    else:
        context = ssl.create_default_context(cafile=str(directory / options.ca_file))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the server's own certificate may be given
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # which Python 3.13 demands and 3.11 does not
    if options.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def tls_reason(error: ssl.SSLError, has_keys: bool) -> str:
    """Why there is no TLS connection, and what to do: `has_keys` says whether ca_file and insecure can be given."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS failed ({error.reason or 'no reason given'}). Check that its port speaks https."
    words = error.verify_message.rstrip(".")
    if error.verify_code in (_EXPIRED, _NOT_YET):
        step = "Renew it, or correct this machine's clock"
    elif error.verify_code in (_HOSTNAME_MISMATCH, _IP_MISMATCH):
        step = "Write the name that it was made for into the URL"
    elif has_keys:
        step = "Give its authority's certificate as ca_file"
    else:
        step = "Have this machine trust its authority"
    return f"its certificate was refused ({words}). {step}{', or set insecure: true' if has_keys else ''}."
