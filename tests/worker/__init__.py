"""Tests of app/worker."""
