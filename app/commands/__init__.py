"""EDGE: the command line, one file per command group.

``cli.py`` lists the groups; ``webhooks`` has the commands of ``flask webhook``, ``terminal`` what
all groups share.
"""
