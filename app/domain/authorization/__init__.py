"""Who is calling and what they can do: actors, permissions, scopes and grants.

Every rule about rights starts here.
"""
