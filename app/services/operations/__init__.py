"""Background and operator work that belongs to no other subject: mail, cleanup, health checks.

The worker calls ``mail_sending`` (the emails that use cases put into the outbox; their templates
are in ``app/templates/mail``), ``cleanup`` and ``worker_heartbeat``; ``health_checks``,
``environment_checks``, ``sign_in_checks`` and ``proxy_checks`` serve ``flask doctor``, the first
also every start.
"""
