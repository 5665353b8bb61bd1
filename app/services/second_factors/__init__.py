"""The second factors of accounts, the checks of an answer, and the challenges that wait for it.

``stored_factors`` reads, ``challenges`` asks and counts. Signing in with them is in ``sign_in``,
adding and removing them in ``accounts``.
"""
