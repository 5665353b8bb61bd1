"""Use cases of the console alone: sessions, Home, search, navigation badges, submitted forms.

It sits above all subjects, because its pages show something of each.
"""
