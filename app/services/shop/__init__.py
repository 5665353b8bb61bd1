"""The shop's settings and its two switches, with the impact of changing them.

Read: ``settings.show_shop``, ``impact``, ``traffic``, ``sign_in_counts``. Write:
``settings.update_shop``.
``lockout_guard`` checks that someone can still undo a change.
"""
