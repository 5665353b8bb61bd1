"""Identify callers: turn a bearer token of any kind into an ``Actor``, in one statement.

Edges call ``identify``. ``own_tokens`` and ``provider_token_verification`` each recognize one kind
of token; ``users`` and ``stored_apps`` load and write the records of people and apps for all other
rooms. ``providers`` answers which staff can sign in with SSO. ``permission_holders`` keeps
permissions manageable, whoever changes them, and writes memberships of groups.
"""
