"""Tests of app/services/keys."""
