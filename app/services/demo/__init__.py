"""A shop to try things on, with a past: people, goods, sales, apps, and what was delivered.

``shop`` is the whole: it lets everything happen in its order, each at its time (``past``), by
the same use cases as in real shops: ``people`` come, ``goods`` are made, ``sales`` go their
way, ``apps`` are set up with webhooks that are still switched off. Then one transaction ends
it: what no use case can do afterwards (``deliveries``, ``traces``), the passwords, and the mark
that the shop is complete. Whatever interrupts it before that is made good the next time, and no
password is told that does not work.
"""
