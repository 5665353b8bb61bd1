"""The judge of speed: shares of yardsticks, busy machines, recorded figures."""
