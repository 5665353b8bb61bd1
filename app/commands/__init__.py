"""EDGE: the command line, one file a group of commands; ``cli.py`` lists the groups.

``webhooks`` has the commands of ``flask webhook``, ``terminal`` what all groups share.
"""
