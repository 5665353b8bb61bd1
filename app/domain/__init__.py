"""The rules of the shop's front door: plain values and pure functions, standard library only.

``actor`` says who is calling, ``permissions`` what may be granted, ``tokens`` what a claim set must
look like, ``shop`` what the two switches mean, ``throttling`` how long a failed login waits, and
``errors`` is how a rule says no.
"""
