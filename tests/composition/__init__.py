"""Tests of app/composition."""
