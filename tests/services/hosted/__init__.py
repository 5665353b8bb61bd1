"""Tests of app/services/hosted."""
