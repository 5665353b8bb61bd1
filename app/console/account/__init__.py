"""Signing in, and the signed-in person's own account."""
