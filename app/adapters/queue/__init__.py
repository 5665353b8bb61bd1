"""The queue of deliveries, signals for workers, and counters of limits."""
