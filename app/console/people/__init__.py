"""The console's pages about people: staff, groups, customers, and the account of who is signed in.

Each page group is a module with a ``blueprint``; the others hold what its pages share.
"""
