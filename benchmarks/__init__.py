"""Where the README's figures come from: ``make bench``.

``load`` drives a server over loopback, ``servers`` starts one in its production form on a core of
its own, ``shop`` fills a database, ``paths`` are the requests, ``report`` prints the table.
A module beside them with a ``main`` of its own runs by name: ``python -m benchmarks lists``,
``changes`` (what webhooks cost whoever changes something), ``fanout`` (what a long past costs).
"""
