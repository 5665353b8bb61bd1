"""Use cases of the console alone: sessions, Home, search and navigation badges.

It sits above all subjects, because its pages show something of each.
"""
