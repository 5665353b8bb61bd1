"""Tests of app/services/accounts."""
