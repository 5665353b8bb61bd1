"""Values that a client should not send, and some that it should."""

import re

from hypothesis import strategies as st

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id

TYPES = (
    *("User", "Group", "App", "AppToken", "AppInstallation", "AppExtension", "Webhook"),
    *("EventDelivery", "EventDeliveryAttempt", "Product", "Order", "OrderLine", "Checkout"),
    *("CheckoutLine", "Session"),
)
GLOBAL_IDS = [to_global_id(name, key) for name in TYPES for key in (*range(1, 6), 2**63, -1)]

TEXTS = (
    *("", " ", "\0", "a\0b", "\n", "\r\nSet-Cookie: a=b", "a" * 300, "a" * 20_000),
    *("\u202efdp.exe", "\u200b", "\ufeff", "\U0001f600" * 50, "é" * 255, "İ", "ß", "\ud800"),
    *("' OR 1=1 --", "%", "_", "%s%n", "{{ 7*7 }}", "${x}", "<script>", "../../etc/passwd"),
    *("-1", "0", "1", "9" * 30, "1e400", "NaN", "true", "null", "[]", "{}", '"'),
    *("1, 2, 3", "1 2", "0x10", "٣", "1_000", "+1", "01"),
    *("0001-01-01", "9999-12-31", "2026-02-30", "0001-01-01T00:00:00+14:00"),
    *("9999-12-31T23:59:59-14:00", "24:00", "2026-03-01T12:00:00Z"),
    *("a@b", "fuzz@example.com", "jörg@exämple.example", "a" * 64 + "@example.com", "a@@b"),
    *("http://127.0.0.1:9/hook", "https://shop.invalid/", "https:/\\evil.invalid", "//evil"),
    *("javascript:alert(1)", "http://[::1", "http://127.0.0.1:99999/", "ftp://x.invalid"),
    *("/console/../..", "/console//evil.invalid", "data:,", "https://user@x.invalid:80/?#"),
    *("subscription { event { issuedAt } }", "query { me { id } }", "{", "fragment a on b {c}"),
    *("ENABLED", "DISABLED", "CUSTOMERS_ONLY", "default", "ANY_EVENTS"),
)

texts = st.one_of(
    st.sampled_from(TEXTS),
    st.sampled_from(GLOBAL_IDS),
    st.sampled_from([*Permission]).map(str),
    st.sampled_from([*EventType]).map(str),
    st.text(max_size=40),
)
"""Text of any kind; it may hold half of a surrogate pair."""

moments = st.one_of(
    st.sampled_from([text for text in TEXTS if re.match(r"\d{4}-", text)]),
    st.dates().map(str),
    st.datetimes().map(lambda moment: f"{moment:%Y-%m-%dT%H:%M}"),
)

encodable = texts.map(lambda text: text.encode(errors="replace").decode())
"""Text that UTF-8 can encode."""

numbers = st.one_of(
    st.integers(-3, 12),
    st.sampled_from([2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, 10**30]),
    st.integers(),
)

json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.floats(), encodable),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(encodable, inner, max_size=4)
    ),
    max_leaves=12,
)
