"""Releases: the distribution and what accompanies it."""
