"""Tests of app/web."""
