"""Products, carts and orders: the sample objects that webhooks are about.

``products``, ``checkouts`` and ``orders`` each read and write one kind, with its rows.
"""
