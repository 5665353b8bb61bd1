"""Mutants of the rules about webhooks, and of limits of values."""

from tests.mutations.mutant import Mutant

WEBHOOKS = (
    Mutant(
        "A webhook of a limited token is told what the token holds",
        "app/domain/webhooks/permissions.py",
        "return of_app if limit is None else of_app & limit",
        "return of_app",
        "domain/webhooks/test_permissions.py",
    ),
    Mutant(
        "A link's secret goes to whoever holds the subject's rights",
        "app/domain/webhooks/permissions.py",
        "return rights <= permissions",
        "return True",
        "domain/webhooks/test_permissions.py",
    ),
    Mutant(
        "A link's secret is not told without the right",
        "app/services/webhooks/link_recipients.py",
        "return event if is_allowed else replace(event, token=None)",
        "return event",
        "hostile/test_link_recipients.py",
    ),
    Mutant(
        "Nothing is delivered to a private address",
        "app/domain/urls/delivery_targets.py",
        "if address is None or is_public(address) or any(",
        "if address is None or address.is_private or any(",
        "domain/urls/test_delivery_targets.py",
    ),
    Mutant(
        "A private address behind an IPv6 one is private",
        "app/domain/urls/delivery_targets.py",
        "return None if found is None else _embedded(found)",
        "return found",
        "domain/urls/test_delivery_targets.py",
    ),
    Mutant(
        "The address that was looked up is looked at again",
        "app/adapters/http_guard.py",
        "if pinned is None or not (is_public(pinned) or self._lists(pinned)):",
        "if pinned is None:",
        "adapters/test_http.py",
    ),
    Mutant(
        "410 stops a delivery",
        "app/domain/deliveries/deliveries.py",
        "if answered == GONE:",
        "if answered == GONE and attempts > 3:",
        "domain/deliveries/test_deliveries.py",
    ),
    Mutant(
        "Retries end with the schedule",
        "app/domain/deliveries/deliveries.py",
        "if attempts >= len(SCHEDULE):",
        "if attempts > len(SCHEDULE):",
        "domain/deliveries/test_deliveries.py",
    ),
    Mutant(
        "Retry-After never brings an attempt forward",
        "app/domain/deliveries/deliveries.py",
        "wait = max(wait, min(retry_after, MAX_RETRY_AFTER))",
        "wait = min(retry_after, MAX_RETRY_AFTER)",
        "domain/deliveries/test_deliveries.py",
    ),
    Mutant(
        "A redirect is no success",
        "app/domain/deliveries/deliveries.py",
        "_GOOD = range(200, 300)",
        "_GOOD = range(200, 400)",
        "domain/deliveries/test_deliveries.py",
    ),
    Mutant(
        "A signature covers the body",
        "app/domain/deliveries/signatures.py",
        'signed = f"{message_id}.{timestamp}.".encode() + body',
        'signed = f"{message_id}.{timestamp}.".encode()',
        "domain/deliveries/test_signatures.py",
    ),
    Mutant(
        "Own headers replace none of ours",
        "app/domain/deliveries/signatures.py",
        "for name, value in headers.items() if name.lower() not in taken} | own",
        "for name, value in headers.items()} | own",
        "domain/deliveries/test_signatures.py",
    ),
    Mutant(
        "A webhook that fails for days is disabled",
        "app/services/deliveries/attempt_results.py",
        "elif now - webhook.failing_since >= DISABLE_AFTER:",
        "elif now - webhook.failing_since >= 2 * DISABLE_AFTER:",
        "services/webhooks/test_disabling.py services/webhooks/test_failing_webhooks.py",
    ),
    Mutant(
        "A result after the lease has passed on changes no delivery",
        "app/services/deliveries/attempt_results.py",
        'DeliveryRecord.lease == bindparam("held"),',
        'bindparam("held") == bindparam("held"),',
        "services/deliveries/test_changes_during_delivery.py services/deliveries/test_sending.py",
    ),
    Mutant(
        "Short secrets stay in what is shown, long ones don't",
        "app/domain/deliveries/redaction.py",
        "if len(part) >= MIN_SECRET_LENGTH",
        "if len(part) > 64",
        "domain/deliveries/test_redaction.py",
    ),
)

VALUES = (
    Mutant(
        "An encrypted value is for one purpose",
        "app/adapters/encryption.py",
        "box = nonce + self._cipher.encrypt(nonce, text.encode(), purpose.encode())",
        'box = nonce + self._cipher.encrypt(nonce, text.encode(), b"")',
        "services/keys/test_ring.py services/webhooks/test_unreadable_secrets.py",
    ),
    Mutant(
        "A page has at most 100 items",
        "app/domain/values/pages.py",
        "if size is None or not 0 < size <= MAX_PAGE_SIZE:",
        "if size is None or not 0 < size:",
        "domain/values/test_pages.py",
    ),
    Mutant(
        "A page goes one way",
        "app/domain/values/pages.py",
        "if first is not None and last is not None:",
        "if first is None and last is None:",
        "domain/values/test_pages.py",
    ),
    Mutant(
        "An ID names its type",
        "app/domain/values/ids.py",
        "key = parse_key(parsed[1]) if parsed is not None and parsed[0] == type_name else None",
        "key = parse_key(parsed[1]) if parsed is not None else None",
        "domain/values/test_ids.py",
    ),
    Mutant(
        "A line has no control characters",
        "app/domain/values/text_rules.py",
        "if has_control_characters(text):",
        "if not text:",
        "domain/values/test_text_rules.py",
    ),
    Mutant(
        "Text doesn't change its direction",
        "app/domain/values/text_rules.py",
        "if turns_text_around(text):",
        "if not text:",
        "domain/values/test_text_rules.py",
    ),
    Mutant(
        "Money has no fractions of a cent",
        "app/domain/commerce/money.py",
        "if _rounded(amount) != amount:",
        "if not amount:",
        "domain/commerce/test_money.py",
    ),
    Mutant(
        "An order is paid once",
        "app/domain/commerce/orders.py",
        "if step is OrderStep.PAY and is_paid:",
        "if step is OrderStep.PAY and not step:",
        "domain/commerce/test_orders.py",
    ),
    Mutant(
        "A checkout is its owner's",
        "app/domain/commerce/checkouts.py",
        "return owner_id is None or owner_id == actor.user_id or manages_checkouts(actor)",
        "return True",
        "domain/commerce/test_checkouts.py",
    ),
    Mutant(
        "A change of the shop is in the audit log",
        "app/services/shop/settings.py",
        "        record(ports, actor, session, change)\n",
        "",
        "services/shop/test_settings.py",
    ),
    Mutant(
        "A rotation is in the audit log",
        "app/services/keys/rotation.py",
        "            after=kids,\n        )\n        record(ports, actor, session, change)\n",
        "            after=kids,\n        )\n",
        "services/keys/test_rotation.py",
    ),
    Mutant(
        "A link that is used is still good",
        "app/services/accounts/email_links.py",
        "if link is None or user is None or not _is_good(ports, link, user):\n"
        "        raise Refused(WORTHLESS)\n"
        "    return _opened(link, user)\n\n\n"
        "@part\ndef drop_links",
        "if link is None or user is None:\n"
        "        raise Refused(WORTHLESS)\n"
        "    return _opened(link, user)\n\n\n"
        "@part\ndef drop_links",
        "services/accounts/test_email_change_links.py",
    ),
    Mutant(
        "A limited app token sees no deliveries of webhooks that it can't change",
        "app/services/deliveries/lists.py",
        "        found = _within_limit(session, actor, WebhookRecord.id, found)\n",
        "",
        "graphql/test_event_deliveries.py",
    ),
    Mutant(
        "A limited app token sees no attempts at deliveries of such webhooks",
        "app/services/deliveries/lists.py",
        "        found = _within_limit(session, actor, DeliveryRecord.id, found)\n",
        "",
        "graphql/test_event_deliveries.py",
    ),
)
