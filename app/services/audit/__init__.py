"""The audit log: written in the transaction of the change it describes, read by staff.

``log`` writes, ``entries`` reads, ``requesters`` keeps who asked for work that the worker does
later.
"""
