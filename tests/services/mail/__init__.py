"""Tests of app/services/mail."""
