"""Builders for test data: people, groups, apps and sessions, in one call each."""
