"""Tests of app/domain/urls."""
