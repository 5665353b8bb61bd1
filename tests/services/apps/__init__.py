"""Tests of app/services/apps."""
