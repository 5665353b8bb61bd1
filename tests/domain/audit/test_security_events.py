"""Entries of the audit log as security events."""

from app.domain.audit import SecurityEvent, security_event_of
from tests.fixtures.cases import cases


@cases(
    ("action", "changed", "event"),
    [
        ("account.register", (), SecurityEvent.USER_CREATED),
        ("account.delete", (), SecurityEvent.USER_DELETED),
        ("account.update", ("first_name",), SecurityEvent.USER_UPDATED),
        ("staff.update", ("first_name",), SecurityEvent.USER_UPDATED),
        ("staff.update", ("first_name", "groups"), SecurityEvent.PERMISSIONS_CHANGED),
        ("staff.promote", (), SecurityEvent.PERMISSIONS_CHANGED),
        ("user.deactivate", ("is_active",), SecurityEvent.USER_ARCHIVED),
        ("group.update", ("name",), SecurityEvent.PERMISSIONS_CHANGED),
        ("group.delete", (), SecurityEvent.PERMISSIONS_CHANGED),
        ("app.update", ("name",), SecurityEvent.ADMIN),
        ("app.update", ("permissions",), SecurityEvent.PERMISSIONS_CHANGED),
        ("app_token.create", (), SecurityEvent.TOKEN_CREATED),
        ("app_token.revoke", (), SecurityEvent.TOKEN_REVOKED),
        ("tokens.deactivate_all", (), SecurityEvent.TOKEN_REVOKED),
        ("session.end", ("session",), SecurityEvent.TOKEN_REVOKED),
        ("password.set", (), SecurityEvent.PASSWORD_CHANGE),
        ("shop.update", ("password_login_mode",), SecurityEvent.ADMIN),
        ("keys.rotate", ("active",), SecurityEvent.ADMIN),
        ("provider.update", ("client_id",), SecurityEvent.ADMIN),
        ("throttle.unblock", (), SecurityEvent.ADMIN),
        ("webhook.create", ("target_url",), SecurityEvent.ADMIN),
        ("order.update", ("status",), None),
        ("product.create", (), None),
        ("delivery.retry", (), None),
    ],
)
def test_actions_are_events(
    action: str, changed: tuple[str, ...], event: SecurityEvent | None
) -> None:
    assert security_event_of(action, changed) is event


def test_levels_follow_the_vocabulary() -> None:
    quiet = {event for event in SecurityEvent if not event.is_warning}
    assert quiet == {
        SecurityEvent.LOGIN_SUCCESS,
        SecurityEvent.PASSWORD_CHANGE,
        SecurityEvent.TOKEN_CREATED,
        SecurityEvent.TOKEN_REVOKED,
    }
