"""Tests of app/services/outbox."""
