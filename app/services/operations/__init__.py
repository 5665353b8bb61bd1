"""Health checks, cleanup and the worker's heartbeat, for operators.

``health_checks`` serves ``flask doctor`` and every start; ``cleanup`` is the worker's.
"""
