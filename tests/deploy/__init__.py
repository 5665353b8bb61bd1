"""The files in ``deploy/``."""
