"""Tests of app/domain/values."""
