"""The rules of the shop: plain values and pure functions.

They import Python's standard library and pure libraries only (``idna``, ``nodesemver``), and do no
I/O.

``authorization`` says who calls and what they can do, ``sign_in`` how tokens and failed logins are
judged, ``shop`` what the two switches mean, and ``values.errors`` how a rule refuses.
"""
