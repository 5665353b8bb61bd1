"""A person's own account: registration, details, email, deletion and passwords.

Use cases: ``registration``, ``account_details``, ``addresses``, ``email_changes``,
``password_changes``, ``password_resets``, ``account_securing``, ``authenticator_apps`` and
``passkeys``. Other rooms use ``email_links``, which writes records and puts emails into the
outbox.
"""
