"""Rules of importing people, apps and webhooks from another installation or a file.

``runs`` has the parts of a report, ``fitting`` reads the columns of a row; other modules turn rows
of the source into values.
"""
