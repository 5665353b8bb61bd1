"""Tests of app/domain/second_factors."""
