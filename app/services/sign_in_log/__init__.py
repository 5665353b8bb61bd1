"""The sign-in log: every attempt to sign in, with its result and reason.

``recording`` writes: successes in the transaction of their session, refusals through the port
``sign_in_log``; it mails staff who signed in from a new device or network. ``events`` reads.
"""
