"""The rules of the shop's front door: plain values and pure functions.

They import Python's standard library and pure libraries only (``idna``, ``nodesemver``), and do
no I/O.

``actor`` says who is calling, ``permissions`` what may be granted, ``tokens`` how a claim set
must look, ``shop`` what the two switches mean, ``throttling`` how long a failed login waits, and
``errors`` is how a rule says no.
"""
