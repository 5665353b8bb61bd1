"""Keys and secrets: signatures, encryption, password hashes and second factors."""
