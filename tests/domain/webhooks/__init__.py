"""Tests of app/domain/webhooks."""
