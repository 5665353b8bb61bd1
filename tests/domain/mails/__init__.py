"""Tests of app/domain/mails."""
