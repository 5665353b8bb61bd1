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
        Mutation.staffUpdate PermissionGroupCreate PermissionGroupCreateInput
        PermissionGroupDelete PermissionGroupError PermissionGroupErrorCode
        PermissionGroupFilterInput PermissionGroupUpdate PermissionGroupUpdateInput
        Query.customers Query.permissionGroup Query.permissionGroups Query.staffUsers Query.user
        StaffCreate StaffCreateInput StaffDelete StaffError StaffMemberStatus StaffUpdate
        StaffUpdateInput StaffUserInput User.editableGroups UserCountableConnection
        UserCountableEdge UserCreateInput
    """,
    "apps": """
        App AppActivate AppCountableConnection AppCountableEdge AppCreate AppDeactivate AppDelete
        AppDeleteFailedInstallation AppError AppErrorCode AppExtension
        AppExtensionCountableConnection AppExtensionCountableEdge AppExtensionFilterInput
        AppFetchManifest AppFilterInput AppInput AppInstall AppInstallInput AppInstallation
        AppManifestExtension AppManifestWebhook AppRetryInstall AppSortField AppSortingInput
        AppToken AppTokenCreate AppTokenDelete AppTokenInput AppTokenVerify AppTypeEnum AppUpdate
        JSON JobStatusEnum Manifest Mutation.appActivate Mutation.appCreate Mutation.appDeactivate
        Mutation.appDelete Mutation.appDeleteFailedInstallation Mutation.appFetchManifest
        Mutation.appInstall Mutation.appRetryInstall Mutation.appTokenCreate
        Mutation.appTokenDelete Mutation.appTokenVerify Mutation.appUpdate
        Query.app Query.appExtension Query.appExtensions Query.apps Query.appsInstallations
    """,
    "single sign-on": """
        ConfigurationItem ConfigurationItemInput ConfigurationTypeFieldEnum
        ExternalAuthenticationUrl ExternalLogout ExternalObtainAccessTokens ExternalRefresh
        ExternalVerify JSONString Mutation.externalAuthenticationUrl Mutation.externalLogout
        Mutation.externalObtainAccessTokens Mutation.externalRefresh Mutation.externalVerify
        Mutation.pluginUpdate Plugin PluginConfiguration PluginConfigurationType
        PluginCountableConnection PluginCountableEdge PluginError PluginErrorCode
        PluginFilterInput PluginUpdate PluginUpdateInput Query.plugin Query.plugins
    """,
    "webhooks": """
        Event EventDelivery EventDeliveryAttempt EventDeliveryAttemptCountableConnection
        EventDeliveryAttemptCountableEdge EventDeliveryCountableConnection
        EventDeliveryCountableEdge EventDeliveryFilterInput EventDeliveryRetry
        EventDeliveryStatusEnum IssuingPrincipal Mutation.eventDeliveryRetry
        Mutation.webhookCreate Mutation.webhookDelete Mutation.webhookDryRun
        Mutation.webhookTrigger Mutation.webhookUpdate Query.webhook Subscription Webhook
        WebhookCreate WebhookCreateInput WebhookDelete WebhookDryRun WebhookDryRunError
        WebhookDryRunErrorCode WebhookError WebhookErrorCode WebhookEvent WebhookEventAsync
        WebhookEventSync WebhookEventTypeAsyncEnum WebhookEventTypeEnum WebhookEventTypeSyncEnum
        WebhookTrigger WebhookTriggerError WebhookTriggerErrorCode WebhookUpdate
        WebhookUpdateInput
    """,
}


def unbuilt() -> frozenset[str]:
    """Every name of the list."""
    return frozenset(name for names in UNBUILT.values() for name in names.split())
