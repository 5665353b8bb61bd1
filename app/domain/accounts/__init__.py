"""People: emails, names, avatars, and rules for staff.

Records become these values before they leave a use case.
"""
