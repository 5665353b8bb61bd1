"""The outside world: what stands behind each port. ``app.wiring`` alone chooses among them."""
