"""Tests of app/services/sign_in."""
