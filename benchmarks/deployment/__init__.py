"""``deploy/try.sh``: what ``deploy/compose.yaml`` runs, as processes of this machine.

``compose`` reads the file, ``stack`` starts its services, ``load`` sends requests meanwhile,
``__main__`` says what is tried.
"""
