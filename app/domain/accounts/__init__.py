"""People: emails, names, avatars, mails, and rules for staff.

Records become these values before they leave a use case.
"""
