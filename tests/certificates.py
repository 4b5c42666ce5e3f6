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


def of_version_1(folder: Path, name: str) -> tuple[Path, Path]:
    """(certificate, key) in PEM, self-signed, of X.509 version 1, as `openssl x509 -req` makes them without
    extensions: what is signed lacks its field of a version (RFC 5280, 4.1)."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    builder = x509.CertificateBuilder(
        subject, subject, key.public_key(), x509.random_serial_number(), now - day, now + day
    )
    third = builder.sign(key, hashes.SHA256())
    version = bytes.fromhex("a003020102")
    head, _, rest = third.tbs_certificate_bytes.partition(version)
    assert len(head) <= 4
    signed = _sequence(rest)
    algorithm = _sequence(bytes.fromhex("06082a8648ce3d040302"))  # ecdsa-with-SHA256
    signature = b"\0" + key.sign(signed, ec.ECDSA(hashes.SHA256()))
    made = _sequence(signed + algorithm + bytes([0x03, len(signature)]) + signature)
    certificate, private = folder / f"{name}.pem", folder / f"{name}.key"
    certificate.write_bytes(x509.load_der_x509_certificate(made).public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, private


def _sequence(content: bytes) -> bytes:
    """A SEQUENCE of DER with that content."""
    size = len(content)
    length = bytes([size]) if size < 128 else bytes([0x81, size]) if size < 256 else b"\x82" + size.to_bytes(2, "big")
    return b"\x30" + length + content
