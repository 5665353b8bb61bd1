"""Staff, customers and permission groups, as others manage them.

Read: ``directory``. Write: ``users`` and ``user_status`` (both kinds), ``staff``, ``customers``,
``groups`` and ``erasure``. Other rooms use ``stored_groups``.
"""
