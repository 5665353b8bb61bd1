"""Tests of app/services/authorization."""
