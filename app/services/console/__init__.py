"""Use cases of the console alone: sessions, Home, search, badges, saved filters.

It sits above all subjects, because its pages show something of each.
"""
