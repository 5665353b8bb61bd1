"""The GraphQL edge: its endpoint on a small schema made for it, and on the shop's own."""
