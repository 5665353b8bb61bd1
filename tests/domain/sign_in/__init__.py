"""Tests of app/domain/sign_in."""
