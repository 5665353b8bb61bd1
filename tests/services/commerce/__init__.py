"""Tests of app/services/commerce."""
