"""Tests of app/services/submissions."""
