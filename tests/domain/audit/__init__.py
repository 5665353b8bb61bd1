"""Tests of the rules of the audit log."""
