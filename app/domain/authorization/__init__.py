"""Actors, permissions, scopes and grants.

Every rule about permissions starts here.
"""
