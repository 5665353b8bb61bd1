"""``make cluster``: two hosts behind nginx, with faults under load."""
