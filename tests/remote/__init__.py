"""Tests of other instances over their API: responses and logins."""
