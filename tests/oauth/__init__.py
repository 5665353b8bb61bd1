"""Tests of app/oauth."""
