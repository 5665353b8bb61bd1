"""The second factors of accounts, the checks of an answer, and the challenges that wait for it.

``stored_factors`` reads, ``challenges`` asks and counts, ``code_checks`` accepts codes,
``recovery_codes`` stores sets of them; ``removal`` and ``session_methods`` say what follows when a
factor is removed or added, ``reported_factors`` stops those of a stranger. Signing in with them is
in ``sign_in``, adding and removing them in ``accounts``.
"""
