"""Importing from another installation or a file.

``platform`` imports a database, a section at a time: ``users``, ``apps``, ``webhooks`` and so on.
Files: ``exports`` writes one, ``export_reading`` imports it, ``user_files`` imports people from
others; ``person_export`` returns what is stored about a person. Rules are in
``app.domain.imports``.
"""
