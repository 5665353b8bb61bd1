"""The shop's settings and its two switches, with the impact of changing them.

Use cases: ``settings``, ``impact``, ``traffic``. ``lockout_guard`` and ``sso_coverage`` count
who can still sign in.
"""
