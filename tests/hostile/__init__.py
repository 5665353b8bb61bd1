"""Attacks that a security review reproduced, each beside a control for the legitimate use."""
