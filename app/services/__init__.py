"""The use cases, a room per subject: ``(ports, actor, input) -> value``.

Every public function is declared by a decorator of ``authorization.register``: edges call those
that name a caller (``public``, ``requires``, ``staff_only`` and so on), other rooms those that are
declared ``part``. Rooms import each other in one order only, which ``pyproject.toml`` holds.
"""
