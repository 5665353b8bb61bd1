"""Tests of app/services/shop."""
