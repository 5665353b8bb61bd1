"""Tests of app/domain/authorization."""
