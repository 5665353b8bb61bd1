"""Lists: filters, sorting, pages, CSV files and saved filters."""
