"""The audit log: written in the transaction of the change it describes, read by staff.

``log`` writes, and stores who requested work that the worker does later; ``entries`` reads.
"""
