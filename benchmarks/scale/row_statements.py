"""The statements that fill a database with any number of users, sessions and deliveries.

Parameters: ``rows``; ``names``, how many names there are; ``rare_every``, how far apart the ten
people with the rare name are; ``password_hash``; ``webhooks``, their keys.
"""

_AGE = "now() - interval '13 days' * ((%(rows)s - n)::float / %(rows)s)"
"""Evenly over the days that deliveries are kept, so that none is due within a day."""

# Multiplied by a large number, so that names follow upon each other as chance would have it.
_PEOPLE = """(
  SELECT n, local || '.' || n || '@' || domain AS email, domain, first_name, last_name, words,
    mod(n, 1000) = 0 AS is_staff,
    timestamptz '2020-01-01' + n * interval '15 seconds' AS joined
  FROM (
    SELECT n,
      CASE WHEN mod(n, 3) = 0 THEN 'mail' || mod(n, 1000) || '.example'
        ELSE 'example.com' END AS domain,
      CASE WHEN mod(n, %(rare_every)s) = 7 THEN 0
        ELSE mod(n * 2654435761, %(names)s) + 1 END AS place
    FROM generate_series(1::bigint, %(rows)s) AS n
  ) AS numbered JOIN names USING (place)
) AS people"""

_USERS = f"""
INSERT INTO users (id, email, password_hash, first_name, last_name, is_staff, is_active,
  date_joined, updated_at, last_login)
SELECT n, email, %(password_hash)s, first_name, last_name, is_staff, mod(n, 500) <> 1,
  joined, joined, now() - mod(n, 90) * interval '1 day'
FROM {_PEOPLE}"""

_WORDS = f"""
INSERT INTO user_words (user_id, word, is_staff)
SELECT n, word, is_staff FROM {_PEOPLE}, unnest(words || email || domain) AS word"""

_SESSIONS = """
INSERT INTO sessions (id, token, user_id, origin, created_at, expires_at, last_used_at, address,
  user_agent, refresh_digest)
SELECT n, left(md5(n::text), 16), n, 'password', now() - mod(n, 500) * interval '1 hour',
  now() + (2 + mod(n, 28)) * interval '1 day' + n * interval '1 microsecond',
  now() - mod(n, 5000) * interval '1 minute',
  '203.0.' || mod(n / 250, 250) || '.' || mod(n, 250),
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36',
  md5(n::text) || md5((n + 1)::text)
FROM generate_series(1::bigint, %(rows)s) AS n"""

_ORDERS = f"""
INSERT INTO orders (id, user_id, user_email, status, is_paid, total, currency, created_at,
  updated_at)
SELECT n, n, email, 'FULFILLED', true, 1250, 'USD', {_AGE}, {_AGE}
FROM (SELECT id AS n, email FROM users WHERE mod(id, 10) = 0 ORDER BY id) AS buyers"""

_EVENTS = f"""
INSERT INTO outbox_events (id, type, subject_id, data, issued_at, principal_type, principal_id,
  issuer, closed_at)
SELECT n, 'PRODUCT_UPDATED', 1 + mod(n, 100000), '{{}}', {_AGE}, 'app', 1,
  'https://shop.example/graphql/', {_AGE}
FROM generate_series(1::bigint, %(rows)s, 5) AS n"""

_DELIVERIES = f"""
INSERT INTO deliveries (id, webhook_id, note_id, event, subject_id, message_id, payload, issuer,
  status, attempts, created_at, given_up, response_status)
SELECT n, (%(webhooks)s::bigint[])[1 + mod(n, 5)], n - mod(n - 1, 5), 'PRODUCT_UPDATED',
  1 + mod(n - mod(n - 1, 5), 100000),
  'msg_' || lpad(to_hex((extract(epoch FROM {_AGE}) * 1000)::bigint), 12, '0')
    || left(md5(n::text), 20),
  '{{"issuedAt":"2026-01-01T00:00:00+00:00","product":{{"id":"UHJvZHVjdDox","name":"Bowl ' || n
    || '","slug":"bowl-' || n || '","description":"' || repeat('An ash bowl. ', 8)
    || '","isPublished":true}}}}',
  'https://shop.example/graphql/', CASE WHEN mod(n, 100) = 0 THEN 'FAILED' ELSE 'SUCCESS' END,
  1, {_AGE}, CASE WHEN mod(n, 100) = 0 THEN 'It was tried often enough.' ELSE '' END,
  CASE WHEN mod(n, 100) = 0 THEN 503 ELSE 200 END
FROM generate_series(1::bigint, %(rows)s) AS n"""

_ATTEMPTS = f"""
INSERT INTO delivery_attempts (id, delivery_id, created_at, duration, status, request_headers,
  response_status, response_headers, response)
SELECT n, n, {_AGE}, 0.02 + mod(n, 97) / 1000.0,
  CASE WHEN mod(n, 100) = 0 THEN 'FAILED' ELSE 'SUCCESS' END,
  ('{{"content-type":"application/json","user-agent":"Latchkey","webhook-id":"msg_'
    || md5(n::text) || '","webhook-timestamp":"1790000000","webhook-signature":"'
    || repeat(md5(n::text), 16) || '"}}')::json,
  CASE WHEN mod(n, 100) = 0 THEN 503 ELSE 200 END, '{{"content-length":"2"}}', 'ok'
FROM generate_series(1::bigint, %(rows)s) AS n"""

_SIGN_INS = f"""
INSERT INTO sign_in_events (id, at, first_at, attempts, method, reason, account_type, user_id,
  app_id, name, email_digest, provider, address, device, in_console)
SELECT n, {_AGE}, {_AGE}, 1, 'PASSWORD',
  CASE WHEN mod(n, 20) = 0 THEN 'INCORRECT_PASSWORD' ELSE '' END,
  CASE WHEN mod(n, 1000) = 0 THEN 'STAFF' ELSE 'CUSTOMER' END, n, NULL,
  'person' || n || '@example.com', '', '', '203.0.' || mod(n / 250, 250) || '.' || mod(n, 250),
  'Chrome on Linux', false
FROM generate_series(5::bigint, %(rows)s, 5) AS n"""

_AUDIT = f"""
INSERT INTO audit (id, at, actor_kind, actor_user_id, actor_name, address, action, subject_type,
  subject_id, subject_name, before, after)
SELECT n, {_AGE}, 'user', 1000 * (1 + mod(n, %(rows)s / 1000)), 'clerk', '203.0.113.7',
  'product.update', 'Product', n::text, 'Bowl ' || n, '{{"name":"Before"}}', '{{"name":"After"}}'
FROM generate_series(10::bigint, %(rows)s, 10) AS n"""

GROUPS = (
    {"users": _USERS, "user_words": _WORDS, "sessions": _SESSIONS, "orders": _ORDERS},
    {
        "outbox_events": _EVENTS,
        "deliveries": _DELIVERIES,
        "delivery_attempts": _ATTEMPTS,
        "sign_in_events": _SIGN_INS,
        "audit": _AUDIT,
    },
)
"""The statement of each table. Tables of one group are filled in that order; groups at once."""
