"""Tests of app/domain/single_sign_on."""
