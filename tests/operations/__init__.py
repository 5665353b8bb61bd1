"""How an installation is observed: health, metrics and logs of real processes."""
