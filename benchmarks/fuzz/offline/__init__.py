"""What every process of a fuzzed installation loads at its start."""
