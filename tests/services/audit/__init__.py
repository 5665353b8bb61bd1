"""Tests of app/services/audit."""
