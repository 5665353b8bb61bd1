"""EDGE: the console that staff use; every page works without JavaScript.

Pages are in rooms: ``account`` (signing in and the own account), ``security``, ``integrations``,
``people``, ``shop``, and ``overview``, which has Home and search, lists all pages and guards them.
A page group reads the input, calls one use case and shows the result. Below them, ``lists`` has
what lists share (filters and paging in the URL, CSV files), and ``frame`` what all pages share:
layout, navigation, session, forms, errors and formatting.
"""
