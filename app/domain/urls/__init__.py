"""IP addresses and URLs: the forms we accept, and where links and calls can lead.

Comparison follows browsers, so that no spelling leads to another host.
"""
