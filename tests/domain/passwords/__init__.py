"""Tests of app/domain/passwords."""
