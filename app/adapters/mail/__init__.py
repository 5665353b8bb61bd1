"""Emails: templates, the shop's own ones, and handing them over."""
