"""What is read for whole lists of a response, not once for each item.

Each root field has its own loaders: a mutation must see the changes of the one before it.
"""
