"""Products, carts and orders: the sample objects that webhooks are about.

Reads: ``catalogue``, ``checkout_lists``, ``order_lists``. Writes: ``products``, ``checkouts``,
``checkout_completion``, ``orders``. The ``stored_*`` modules load and lock records.
"""
