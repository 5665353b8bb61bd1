"""Tests of app/services/people."""
