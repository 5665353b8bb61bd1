"""Sign-in by password, sessions and their tokens, and the login throttle.

Use cases: ``password_login``, ``tokens``, ``own_sessions``, ``login_throttle``. Records are
written by ``sessions``.
"""
