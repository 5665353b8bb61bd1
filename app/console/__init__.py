"""EDGE: the console, what staff use all day; every page works without script.

``view`` joins the pages; each page group is a file that reads the input, calls one use case and
shows the result. Below them: ``frame`` (the page around a page), ``session`` (who is signed in),
``forms``, ``lists`` (filters and pages in the address), ``filters`` (how values are written),
``errors`` and ``assets``.
"""
