"""EDGE: the console that staff use; every page works without JavaScript.

``view`` joins the pages and guards them. Pages are in rooms: ``overview`` (Home and search),
``account`` (signing in and the own account), ``security``, ``integrations``, ``people`` and
``shop``. A page group reads the input, calls one use case and shows the result. Below them,
``lists`` has what lists share (filters and paging in the URL, CSV files), and
``frame`` what all pages share: layout, navigation, session, forms, errors and formatting.
"""
