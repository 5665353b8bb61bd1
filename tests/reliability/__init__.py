"""Servers and workers that are killed at any moment, and what comes of what they had begun."""
