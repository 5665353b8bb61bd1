"""``flask webhook``: its commands; ``app/commands/webhook.py`` lists them.

Every command is written once, against the port ``Instance``: ``local_instance`` is this
installation through its use cases, ``instance_option`` connects to another one.
"""
