"""Tests of app/domain/deliveries."""
