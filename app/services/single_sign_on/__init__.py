"""Identity providers: their settings, and sign-in, refresh and sign-out through them.

Use cases: ``provider_settings``, ``provider_checks``, ``sign_in``, ``provider_sessions``,
``own_identities``. ``provider_settings`` alone writes settings; ``provider_coverage`` counts who
depends on a provider. Bearer tokens of providers are recognized in ``identity``.
"""
