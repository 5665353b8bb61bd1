"""The source of the figures in docs/speed.md: ``make bench``.

``load_client`` sends requests over loopback, ``servers`` starts a production server on its own
core, ``shop`` fills a database, ``paths`` are the requests, ``report`` prints the table. The other
modules have a ``main`` and run by name: ``python -m benchmarks lists``, ``changes`` (the cost of
webhooks for mutations), ``fanout`` (the cost of a long history).
"""
