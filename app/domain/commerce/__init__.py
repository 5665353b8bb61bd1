"""Products, carts, orders and money.

Amounts are exact decimals.
"""
