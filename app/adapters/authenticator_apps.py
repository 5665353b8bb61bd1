"""One-time codes by pyotp and QR codes by segno."""

from collections.abc import Iterator
from itertools import groupby

import pyotp
import segno

from app.domain.second_factors import DIGITS, PERIOD
from app.ports.second_factors import QrCode

_MAX_LABEL = 60
"""Characters of the shop's name and of the email in a QR code, which holds 2331 bytes.

Each character can take twelve, and the name is in it twice.
"""

_QUIET_ZONE = 4
"""Modules around a QR code that stay white (ISO/IEC 18004)."""


class PyotpAuthenticatorApps:
    """Codes by pyotp; QR codes at error level M, of which 15% can be unreadable."""

    def code_at(self, secret: str, step: int) -> str:
        return pyotp.HOTP(secret, digits=DIGITS).at(step)

    def setup_uri(self, secret: str, account: str, issuer: str) -> str:
        totp = pyotp.TOTP(secret, digits=DIGITS, interval=PERIOD)
        return totp.provisioning_uri(name=_short(account), issuer_name=_short(issuer))

    def qr_code(self, text: str) -> QrCode:
        code = segno.make_qr(text, error="m")
        return QrCode(len(code.matrix) + 2 * _QUIET_ZONE, "".join(_bars(code.matrix)))


def _short(label: str) -> str:
    return label if len(label) <= _MAX_LABEL else f"{label[: _MAX_LABEL - 1]}…"


def _bars(matrix: tuple[bytearray, ...]) -> Iterator[str]:
    """Return each run of black modules in a row as a rectangle."""
    for y, row in enumerate(matrix, _QUIET_ZONE):
        x = _QUIET_ZONE
        for is_black, run in groupby(row):
            width = len(list(run))
            if is_black:
                yield f"M{x} {y}h{width}v1h-{width}z"
            x += width
