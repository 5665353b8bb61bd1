"""The shop's settings and its two switches, with the impact of changing them.

``settings`` reads and writes; ``impact`` and ``traffic`` count; ``lockout_guard`` checks that
someone can still undo a change.
"""
