"""The ``webhook-id`` of a delivery."""

from datetime import UTC, datetime, timedelta

from app.domain.deliveries.deliveries import MESSAGE_RANDOM_LENGTH, make_message_id

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def test_message_ids_sort_by_creation_time() -> None:
    steps = (-1_700_000_000, -1, 0, 0.001, 1, 86_400, 1_000_000_000)
    made = [
        make_message_id(NOW + timedelta(seconds=step), chance * MESSAGE_RANDOM_LENGTH)
        for step, chance in zip(steps, "zA9a0Z1", strict=True)
    ]
    assert made == sorted(made)


def test_message_id_contains_milliseconds_and_random_part() -> None:
    assert (
        make_message_id(NOW, "k" * MESSAGE_RANDOM_LENGTH)
        == f"msg_019ca9450a00{'k' * MESSAGE_RANDOM_LENGTH}"
    )
