"""What of the floor is not built yet, by what it comes with; the list only shrinks."""

UNBUILT = {
    "avatars": """
        Mutation.userAvatarDelete Mutation.userAvatarUpdate Upload UserAvatarDelete
        UserAvatarUpdate
    """,
    "staff and customers": """
        CustomerCreate CustomerDelete CustomerInput CustomerUpdate Group.permissions
        Group.userCanManage Group.users GroupCountableConnection GroupCountableEdge
        Mutation.customerCreate Mutation.customerDelete Mutation.customerUpdate
        Mutation.permissionGroupCreate Mutation.permissionGroupDelete
        Mutation.permissionGroupUpdate Mutation.staffCreate Mutation.staffDelete
        Mutation.staffUpdate PermissionGroupCreate PermissionGroupCreateInput PermissionGroupDelete
        PermissionGroupError PermissionGroupErrorCode PermissionGroupFilterInput
        PermissionGroupUpdate PermissionGroupUpdateInput Query.customers Query.permissionGroup
        Query.permissionGroups Query.staffUsers Query.user StaffCreate StaffCreateInput StaffDelete
        StaffError StaffMemberStatus StaffUpdate StaffUpdateInput StaffUserInput
        User.editableGroups UserCountableConnection UserCountableEdge UserCreateInput
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
