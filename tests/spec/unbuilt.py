"""What of the floor is not built yet, by what it comes with; the list only shrinks."""

UNBUILT = {
    "avatars": """
        Mutation.userAvatarDelete Mutation.userAvatarUpdate Upload UserAvatarDelete
        UserAvatarUpdate
    """,
    "webhooks": """
        EventDelivery EventDeliveryAttempt EventDeliveryAttemptCountableConnection
        EventDeliveryAttemptCountableEdge EventDeliveryCountableConnection
        EventDeliveryCountableEdge EventDeliveryFilterInput EventDeliveryRetry
        EventDeliveryStatusEnum Mutation.eventDeliveryRetry Mutation.webhookCreate
        Mutation.webhookDelete Mutation.webhookDryRun Mutation.webhookTrigger
        Mutation.webhookUpdate Query.webhook Webhook.eventDeliveries WebhookCreate
        WebhookCreateInput WebhookDelete WebhookDryRun WebhookDryRunError WebhookDryRunErrorCode
        WebhookError WebhookErrorCode WebhookTrigger WebhookTriggerError WebhookTriggerErrorCode
        WebhookUpdate WebhookUpdateInput
    """,
}


def unbuilt() -> frozenset[str]:
    """Every name of the list."""
    return frozenset(name for names in UNBUILT.values() for name in names.split())
