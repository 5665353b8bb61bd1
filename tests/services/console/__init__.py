"""Tests of app/services/console."""
