"""Deliveries of events to webhooks: fan-out, sending, retries, replay and dry runs.

The worker uses ``fanout``, ``dispatch`` and ``sending``; the retry schedule is
``app.domain.values.times``. People use ``lists``, ``search``, ``details``, ``replays`` and
``dry_runs``.
"""
