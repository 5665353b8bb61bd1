"""Certificates of an authority that only one test trusts."""

from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from app.adapters.system import SystemClock


def certificate_for(folder: Path, host: str) -> tuple[Path, Path]:
    """Return the authority's certificate, and a file with ``host``'s certificate and key."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority of the tests")])
    now = SystemClock().now()
    root = _begun(issuer, issuer, authority_key.public_key(), now)
    root = root.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    root = root.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), critical=False
    )
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    root = root.add_extension(usage, critical=True)
    leaf = _begun(x509.Name([]), issuer, key.public_key(), now)
    leaf = leaf.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=True)
    leaf = leaf.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()),
        critical=False,
    )
    authority, chain = folder / "authority.pem", folder / f"{host}.pem"
    authority.write_bytes(root.sign(authority_key, hashes.SHA256()).public_bytes(Encoding.PEM))
    chain.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + leaf.sign(authority_key, hashes.SHA256()).public_bytes(Encoding.PEM)
    )
    return authority, chain


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )
