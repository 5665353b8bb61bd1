"""Tests of app/services/second_factors."""
