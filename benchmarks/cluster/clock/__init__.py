"""A folder for ``PYTHONPATH`` that sets a process's clock ahead or back."""
