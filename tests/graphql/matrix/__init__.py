"""Who may do what by GraphQL: ``rules`` the columns, the tables, and the ``world`` they run in."""
