"""EDGE: background work, in a process next to the server or on other machines.

``tasks`` lists what is done and how often; ``threads`` runs it.
"""
