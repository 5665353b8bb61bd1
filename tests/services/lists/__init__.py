"""Tests of app/services/lists."""
