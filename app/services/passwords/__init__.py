"""Setting, changing and resetting passwords, and the emailed links that allow it.

Use cases: ``password_changes``, ``password_resets``, ``account_confirmation``. ``email_links``
creates and consumes links; the limit on reset emails lives in ``password_resets``.
"""
