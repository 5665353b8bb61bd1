"""Tests of app/services/identity."""
