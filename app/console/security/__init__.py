"""The console's pages under Security: single sign-on, keys, throttle, token inspector, audit log.

Each page group is a module with a ``blueprint``; the others hold what its pages share.
"""
