"""Background and operator work that belongs to no other subject: cleanup, health checks, backups.

The worker calls ``cleanup`` and ``background_work``; ``health_checks`` and ``environment_checks``
serve ``flask doctor`` and readiness, the first also every start.
"""
