"""Tests of the OpenID provider's use cases."""
