"""The rules of the shop's front door: plain values, pure functions, no library but Python's.

``actor`` says who is calling, ``permissions`` what may be granted, ``tokens`` how a claim set
must look, ``shop`` what the two switches mean, ``throttling`` how long a failed login waits, and
``errors`` is how a rule says no.
"""
