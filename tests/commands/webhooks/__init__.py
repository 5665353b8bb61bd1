"""``flask webhook``, here and on a server: one shop twice, with the same webhooks."""
