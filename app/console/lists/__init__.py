"""Lists: filters, sorting, pages and CSV files."""
