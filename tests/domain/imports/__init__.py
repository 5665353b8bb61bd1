"""Tests of app/domain/imports."""
