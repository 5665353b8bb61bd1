"""Tests of app/hosted."""
