"""What subscriptions select from: ``Subscription.event``, and a type for each event there is.

``event`` is the interface that all of them have; ``subjects`` says which field shows what an event
is about; ``subscription`` makes a type of every class in ``domain.events.EVENTS``.
"""
