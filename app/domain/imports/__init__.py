"""Rules of importing people, apps and webhooks from another installation or a file.

``findings`` is what a report consists of, ``fitting`` reads the columns of a row; other modules
turn a row of the source into values.
"""
