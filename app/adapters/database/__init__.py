"""The database: engines, transactions, replica, schema, backups, and Saleor's to import."""
