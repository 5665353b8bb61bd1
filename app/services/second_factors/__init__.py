"""The second factors of accounts, the checks of an answer, and the challenges that wait for it.

``stored_factors`` reads, and stops those that a stranger added; ``challenges`` asks and counts;
``factor_checks`` accepts codes and passkeys. Signing in with them is in ``sign_in``,
adding and removing them in ``accounts``.
"""
