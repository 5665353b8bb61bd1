"""EDGE: the console that staff use; every page works without JavaScript.

``view`` joins the pages. Pages are in the rooms ``integrations``, ``people`` and ``security``, as
in the navigation; pages without a group are here. A page group reads the input, calls one use case
and shows the result. What all pages share is here too: ``page_layout``, ``session`` (who is signed
in), ``forms``, ``lists`` (filters and paging in the URL), ``formatting`` and ``errors``.
"""
