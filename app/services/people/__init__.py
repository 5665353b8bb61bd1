"""Staff, customers and permission groups, as others manage them.

Read: ``directory``, ``group_lists``, ``permission_granters``. Write: ``staff``, ``customers``,
``user_creation``, ``user_details``, ``user_status``, ``user_sessions``, ``group_changes``;
``erasure``; ``personal_traces`` knows where else a person is stored;
``invitations`` puts an invitation's email into the outbox. Other rooms use ``permission_holders``
(who holds a permission) and ``stored_groups``.
"""
