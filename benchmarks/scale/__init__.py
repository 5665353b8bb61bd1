"""``make scale``: how the whole deployment grows, on PostgreSQL and Valkey behind nginx."""
