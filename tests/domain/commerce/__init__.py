"""Tests of app/domain/commerce."""
