"""The console's pages under Integrations: apps, webhooks, deliveries and dry runs.

Each page group is a module with a ``blueprint``; the others hold what its pages share.
"""
