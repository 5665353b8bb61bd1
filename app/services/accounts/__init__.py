"""People: their own account, and customers and staff as others manage them.

Use cases: ``registration``, ``account_details``, ``email_changes``, ``account_deletions``,
``customers``, ``staff``, ``directory``, ``user_sessions``. ``user_creation`` and ``user_details``
write the records.
"""
