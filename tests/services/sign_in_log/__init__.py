"""The sign-in log: attempts are written by ``recording``."""
