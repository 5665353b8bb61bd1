"""Sign-in by password, passkey and second factor; sessions, their tokens, the login throttle.

``password_login``, ``email_codes`` and ``second_factor_sign_in`` sign in; ``sessions`` begins,
lists and ends sessions; ``tokens`` signs, refreshes and verifies their tokens.
"""
