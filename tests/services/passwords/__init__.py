"""Tests of app/services/passwords."""
