"""Tests of app/services/groups."""
