"""The outside world: what stands behind each port; ``app.composition.wiring`` chooses."""
