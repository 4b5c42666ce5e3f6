"""Certificates made for a test: self-signed, as servers have that nobody set up (a kubelet's, an appliance's)."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def self_signed(folder: Path, name: str, host: str = "127.0.0.1", days: int = 1) -> tuple[Path, Path]:
    """(certificate, key) in PEM for that address or name; fewer than 0 days: it has expired."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    try:
        other: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        other = x509.DNSName(host)
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=10))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([other]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / f"{name}.pem", folder / f"{name}.key"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, private
