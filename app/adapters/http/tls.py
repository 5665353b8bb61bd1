"""Which certificate authorities outgoing TLS connections trust."""

import ssl
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrustedAuthorities:
    """PEM files of certificate authorities.

    ``replacing`` is trusted instead of the usual authorities (SSL_CERT_FILE), ``additional`` in
    addition to them (OUTGOING_CA_FILE). Both can be empty.
    """

    replacing: str = ""
    additional: str = ""

    def client_context(self, usual: str | None = None) -> ssl.SSLContext:
        """Return a context that verifies servers; ``usual`` replaces the system's authorities."""
        context = ssl.create_default_context(cafile=self.replacing or usual)
        if self.additional:
            context.load_verify_locations(self.additional)
        return context
