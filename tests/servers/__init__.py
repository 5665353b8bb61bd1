"""The real servers that tests talk to: at most one of each kind in a run, whatever the workers.

``run`` is the directory that the processes of one run share, ``keeper`` the process that starts a
server when the first test asks for it and stops it when the run has ended, in whatever way it
ended; ``lodging`` is where a server lives and as whom; ``postgresql`` and ``valkey`` are the two.
"""
