"""Tests of app/endpoints."""
