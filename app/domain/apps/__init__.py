"""Apps, their tokens, manifests, installations and dashboard extensions.

Manifests are read with every problem named.
"""
