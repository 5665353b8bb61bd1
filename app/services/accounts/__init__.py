"""A person's own account: registration, details, email, deletion and passwords.

Use cases: ``registration``, ``account_details``, ``avatars``, ``addresses``, ``email_changes``,
``account_deletions``, ``account_confirmation``, ``password_changes``, ``password_resets`` (with
the limit on reset emails), ``authenticator_apps``, ``passkeys`` and ``recovery_codes``. Other
rooms use ``email_links``, ``new_passwords`` and ``reset_links``, which write records and put
emails into the outbox.
"""
