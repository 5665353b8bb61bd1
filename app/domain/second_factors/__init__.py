"""Second factors of an account, and the authentication methods of a session (RFC 8176)."""
