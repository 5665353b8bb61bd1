"""Identity providers: their settings, and sign-in, refresh and sign-out through them.

Use cases: ``provider_settings``, ``provider_checks``, ``sign_in``, ``refresh``,
``provider_sessions``, ``attribute_mapping``. Bearer tokens of providers are recognized in
``identity``.
"""
