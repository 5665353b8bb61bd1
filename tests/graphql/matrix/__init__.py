"""Who can do what over GraphQL: ``rules`` has the columns, then the tables and the sample shop."""
