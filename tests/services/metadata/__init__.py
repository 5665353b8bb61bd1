"""Tests of app/services/metadata."""
