"""A demo shop with a history: people, products, orders, apps and deliveries.

``shop`` runs everything in order, each at its time (``timeline``), by the use cases of real shops.
One transaction completes it: what no use case can do afterwards (``deliveries``, ``activity``),
the passwords, and the mark that the shop is complete. After an interruption the next run completes
it, and no password is shown that doesn't work.
"""
