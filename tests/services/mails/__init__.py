"""Tests of app/services/operations."""
