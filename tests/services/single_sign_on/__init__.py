"""Tests of app/services/single_sign_on."""
