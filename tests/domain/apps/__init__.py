"""Tests of app/domain/apps."""
