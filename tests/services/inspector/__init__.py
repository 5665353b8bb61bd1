"""Tests of app/services/inspector."""
