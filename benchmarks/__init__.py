"""The source of the figures in docs/speed.md: ``make bench``.

``load_client`` sends requests over loopback, ``servers`` starts a production server on its own
core, ``neighbours`` refuses a busy machine, ``shop`` fills a database, ``paths`` are the requests,
``report`` holds the table. ``python -m benchmarks --help`` lists the parts.
"""
