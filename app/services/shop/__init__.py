"""The shop's settings and its two switches, with the impact of changing them.

Read: ``settings.show_shop``, ``impact``, ``traffic``, ``sign_in_counts``. Write:
``settings.update_shop``, ``mail_templates`` (the shop's own email templates).
``lockout_guard`` checks that someone can still undo a change.
"""
