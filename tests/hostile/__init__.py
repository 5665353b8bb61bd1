"""Attacks that a security review reproduced, each with a test of the legitimate use."""
