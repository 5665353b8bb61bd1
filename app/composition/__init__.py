"""The composition root: what a process is made of.

``factory`` builds the Flask application; ``operations`` runs what needs no console and API: the
worker, and the listener for health and metrics. ``wiring`` chooses the adapter behind each port.
``settings`` alone reads the environment; ``setting_values`` parses its texts. ``app/__init__.py``
imports them when they are first used.
"""
