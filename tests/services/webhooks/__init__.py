"""Tests of app/services/webhooks."""
