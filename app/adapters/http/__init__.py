"""Calls to other servers, guarded against private addresses, and identity providers."""
