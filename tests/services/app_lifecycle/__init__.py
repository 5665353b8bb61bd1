"""Tests of app/services/app_lifecycle."""
