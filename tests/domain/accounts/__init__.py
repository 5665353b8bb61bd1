"""Tests of app/domain/accounts."""
