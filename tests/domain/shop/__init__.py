"""Tests of app/domain/shop."""
