"""The outside world, one file a port; ``app.wiring`` alone chooses among them."""
