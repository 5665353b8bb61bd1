"""Deliveries of events to webhooks: fan-out, sending, retries, replay and dry runs.

The worker uses ``fanout``, ``dispatch`` and ``sending``; the retry schedule is in
``app.domain.values.times``. People use ``lists``, ``details``, ``statistics``, ``replays`` and
``dry_runs``.
"""
