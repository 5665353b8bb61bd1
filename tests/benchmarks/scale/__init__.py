"""The parts of ``python -m benchmarks.scale``, small."""
