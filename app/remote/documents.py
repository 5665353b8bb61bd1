"""The documents that another instance is asked by: no field more than the commands show."""

_WEBHOOK = """
fragment Hook on Webhook {
  id name targetUrl isActive subscriptionQuery customHeaders secretKey
  asyncEvents { eventType }
}
"""
_OWNED = """
fragment Owned on Webhook { ...Hook app { id name isActive permissions { code } } }
"""
_DELIVERY = """
fragment Sent on EventDelivery {
  id createdAt status eventType payload
  attempts(first: 1) {
    edges { node { createdAt status duration responseStatusCode response requestHeaders } }
  }
}
"""
APPS = """
query Apps($after: String) {
  apps(first: 100, after: $after, sortBy: {field: CREATION_DATE, direction: ASC}) {
    edges { node { id name isActive } }
    pageInfo { hasNextPage endCursor }
  }
}
"""
OWN_APP = "query OwnApp { app { id name isActive } }"
CALLER = "query Caller { me { userPermissions { code } } }"
CALLING_APP = "query CallingApp { app { id name isActive permissions { code } } }"
CREATE_APP = """
mutation CreateApp($input: AppInput!) {
  appCreate(input: $input) {
    app { id name isActive permissions { code } } errors { field message code }
  }
}
"""
DELETE_APP = """
mutation DeleteApp($id: ID!) {
  appDelete(id: $id) { errors { field message code } }
}
"""
WEBHOOKS = f"""
query Webhooks($after: String) {{
  apps(first: 100, after: $after, sortBy: {{field: CREATION_DATE, direction: ASC}}) {{
    edges {{ node {{ id name isActive webhooks {{ ...Hook }} }} }}
    pageInfo {{ hasNextPage endCursor }}
  }}
}}
{_WEBHOOK}
"""
OWN_WEBHOOKS = f"""
query OwnWebhooks {{ app {{ id name isActive webhooks {{ ...Hook }} }} }}
{_WEBHOOK}
"""
EVENTS = """
query Events {
  __type(name: "WebhookEventTypeAsyncEnum") { enumValues { name description } }
}
"""
CREATE = f"""
mutation Create($input: WebhookCreateInput!) {{
  webhookCreate(input: $input) {{
    webhook {{ ...Owned }} errors {{ field message code }}
  }}
}}
{_OWNED}{_WEBHOOK}
"""
UPDATE = f"""
mutation Update($id: ID!, $input: WebhookUpdateInput!) {{
  webhookUpdate(id: $id, input: $input) {{
    webhook {{ ...Owned }} errors {{ field message code }}
  }}
}}
{_OWNED}{_WEBHOOK}
"""
DELETE = """
mutation Delete($id: ID!) {
  webhookDelete(id: $id) { errors { field message code } }
}
"""
DRY_RUN = """
mutation DryRun($objectId: ID, $query: String, $app: ID) {
  webhookDryRun(objectId: $objectId, query: $query, app: $app) {
    payload errors { field message code }
  }
}
"""
TRIGGER = f"""
mutation Trigger($webhookId: ID!, $objectId: ID!) {{
  webhookTrigger(webhookId: $webhookId, objectId: $objectId) {{
    delivery {{ ...Sent }} errors {{ field message code }}
  }}
}}
{_DELIVERY}
"""
TRIGGER_NEWEST = f"""
mutation Trigger($webhookId: ID!) {{
  webhookTrigger(webhookId: $webhookId) {{
    delivery {{ ...Sent }} errors {{ field message code }}
  }}
}}
{_DELIVERY}
"""
TRIGGER_EVENT = f"""
mutation Trigger($webhookId: ID!, $objectId: ID, $event: WebhookEventTypeAsyncEnum) {{
  webhookTrigger(webhookId: $webhookId, objectId: $objectId, event: $event) {{
    delivery {{ ...Sent }} errors {{ field message code }}
  }}
}}
{_DELIVERY}
"""
DELIVERIES = f"""
query Deliveries($id: ID!, $first: Int!, $after: String, $filter: EventDeliveryFilterInput) {{
  webhook(id: $id) {{
    eventDeliveries(first: $first, after: $after, filter: $filter) {{
      edges {{ node {{ ...Sent }} }}
      pageInfo {{ hasNextPage endCursor }}
    }}
  }}
}}
{_DELIVERY}
"""
RETRY = f"""
mutation Retry($id: ID!) {{
  eventDeliveryRetry(id: $id) {{
    delivery {{ ...Sent }} errors {{ field message code }}
  }}
}}
{_DELIVERY}
"""
REPLAY = """
mutation Replay(
  $id: ID!, $since: DateTime!, $failed: Boolean, $missing: Boolean, $beforeCreation: Boolean,
  $preview: Boolean
) {
  webhookReplay(
    id: $id, since: $since, failed: $failed, missing: $missing, beforeCreation: $beforeCreation,
    preview: $preview
  ) {
    failed missing hasMore earlier errors { field message code }
  }
}
"""
SEND_WAITING = """
mutation SendWaiting($id: ID!) {
  webhookSendWaiting(id: $id) { count errors { field message code } }
}
"""
