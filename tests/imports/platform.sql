-- The tables of a platform database (release 3.24) that hold people, apps and webhooks.

CREATE TABLE account_user (
    id integer PRIMARY KEY,
    is_superuser boolean NOT NULL,
    email varchar NOT NULL,
    is_staff boolean NOT NULL,
    is_active boolean NOT NULL,
    password varchar NOT NULL,
    date_joined timestamptz NOT NULL,
    last_login timestamptz,
    default_billing_address_id integer,
    default_shipping_address_id integer,
    note text,
    first_name varchar NOT NULL,
    last_name varchar NOT NULL,
    avatar varchar,
    private_metadata jsonb NOT NULL,
    metadata jsonb NOT NULL,
    jwt_token_key varchar NOT NULL,
    language_code varchar NOT NULL,
    search_document text NOT NULL,
    updated_at timestamptz NOT NULL,
    uuid uuid NOT NULL,
    external_reference varchar,
    last_password_reset_request timestamptz,
    is_confirmed boolean NOT NULL,
    last_confirm_email_request timestamptz,
    number_of_orders integer NOT NULL,
    search_vector tsvector,
    customer_type_id integer
);

CREATE TABLE account_user_groups (
    id integer PRIMARY KEY,
    user_id integer NOT NULL,
    group_id integer NOT NULL
);

CREATE TABLE account_user_user_permissions (
    id integer PRIMARY KEY,
    user_id integer NOT NULL,
    permission_id integer NOT NULL
);

CREATE TABLE account_group (
    id integer PRIMARY KEY,
    name varchar NOT NULL,
    restricted_access_to_channels boolean NOT NULL
);

CREATE TABLE account_group_permissions (
    id integer PRIMARY KEY,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);

CREATE TABLE account_address (
    id integer PRIMARY KEY,
    first_name varchar NOT NULL,
    last_name varchar NOT NULL,
    company_name varchar NOT NULL,
    street_address_1 varchar NOT NULL,
    street_address_2 varchar NOT NULL,
    city varchar NOT NULL,
    postal_code varchar NOT NULL,
    country varchar NOT NULL,
    country_area varchar NOT NULL,
    phone varchar NOT NULL,
    city_area varchar NOT NULL,
    metadata jsonb NOT NULL,
    private_metadata jsonb NOT NULL,
    validation_skipped boolean NOT NULL
);

CREATE TABLE account_user_addresses (
    id integer PRIMARY KEY,
    user_id integer NOT NULL,
    address_id integer NOT NULL
);

CREATE TABLE permission_permission (
    id integer PRIMARY KEY,
    name varchar NOT NULL,
    content_type_id integer NOT NULL,
    codename varchar NOT NULL
);

CREATE TABLE django_content_type (
    id integer PRIMARY KEY,
    app_label varchar NOT NULL,
    model varchar NOT NULL
);

CREATE TABLE app_app (
    id integer PRIMARY KEY,
    private_metadata jsonb NOT NULL,
    metadata jsonb NOT NULL,
    name varchar NOT NULL,
    created_at timestamptz NOT NULL,
    is_active boolean NOT NULL,
    about_app text,
    app_url varchar,
    configuration_url varchar,
    data_privacy text,
    data_privacy_url varchar,
    homepage_url varchar,
    identifier varchar NOT NULL,
    support_url varchar,
    type varchar NOT NULL,
    version varchar,
    manifest_url varchar,
    audience varchar,
    is_installed boolean NOT NULL,
    author varchar,
    uuid uuid NOT NULL,
    brand_logo_default varchar,
    removed_at timestamptz
);

CREATE TABLE app_app_permissions (
    id integer PRIMARY KEY,
    app_id integer NOT NULL,
    permission_id integer NOT NULL
);

CREATE TABLE app_apptoken (
    id integer PRIMARY KEY,
    name varchar NOT NULL,
    auth_token varchar NOT NULL,
    app_id integer NOT NULL,
    token_last_4 varchar NOT NULL
);

CREATE TABLE app_appextension (
    id integer PRIMARY KEY,
    label varchar NOT NULL,
    url varchar NOT NULL,
    app_id integer NOT NULL,
    mount varchar NOT NULL,
    target varchar NOT NULL,
    http_target_method varchar,
    settings jsonb NOT NULL,
    identifier varchar
);

CREATE TABLE app_appextension_permissions (
    id integer PRIMARY KEY,
    appextension_id integer NOT NULL,
    permission_id integer NOT NULL
);

CREATE TABLE webhook_webhook (
    id integer PRIMARY KEY,
    target_url varchar NOT NULL,
    is_active boolean NOT NULL,
    secret_key varchar,
    app_id integer NOT NULL,
    name varchar,
    subscription_query text,
    custom_headers jsonb,
    filterable_channel_slugs varchar[] NOT NULL,
    identifier varchar
);

CREATE TABLE webhook_webhookevent (
    id integer PRIMARY KEY,
    event_type varchar NOT NULL,
    webhook_id integer NOT NULL
);

CREATE TABLE site_sitesettings (
    id integer PRIMARY KEY,
    header_text varchar NOT NULL,
    description varchar NOT NULL,
    site_id integer NOT NULL,
    bottom_menu_id integer,
    top_menu_id integer,
    display_gross_prices boolean NOT NULL,
    include_taxes_in_prices boolean NOT NULL,
    charge_taxes_on_shipping boolean NOT NULL,
    track_inventory_by_default boolean NOT NULL,
    default_weight_unit varchar NOT NULL,
    company_address_id integer,
    default_mail_sender_address varchar,
    default_mail_sender_name varchar NOT NULL,
    customer_set_password_url varchar,
    fulfillment_allow_unpaid boolean NOT NULL,
    fulfillment_auto_approve boolean NOT NULL,
    gift_card_expiry_period integer,
    gift_card_expiry_period_type varchar,
    gift_card_expiry_type varchar NOT NULL,
    reserve_stock_duration_anonymous_user integer,
    reserve_stock_duration_authenticated_user integer,
    limit_quantity_per_checkout integer,
    enable_account_confirmation_by_email boolean NOT NULL,
    metadata jsonb NOT NULL,
    private_metadata jsonb NOT NULL,
    allow_login_without_confirmation boolean NOT NULL,
    refund_reason_reference_type_id integer,
    use_legacy_update_webhook_emission boolean NOT NULL,
    preserve_all_address_fields boolean NOT NULL,
    instance_id uuid,
    usage_telemetry_reported_at timestamptz,
    password_login_mode varchar NOT NULL,
    use_legacy_shipping_zone_stock_availability boolean NOT NULL,
    return_reason_reference_type_id integer,
    account_confirm_merge_mode varchar NOT NULL,
    allow_storefront_traffic boolean NOT NULL
);

CREATE TABLE plugins_pluginconfiguration (
    id integer PRIMARY KEY,
    name varchar NOT NULL,
    description text NOT NULL,
    active boolean NOT NULL,
    configuration jsonb NOT NULL,
    identifier varchar NOT NULL,
    channel_id integer
);

CREATE TABLE django_migrations (
    id integer PRIMARY KEY,
    app varchar NOT NULL,
    name varchar NOT NULL,
    applied timestamptz NOT NULL
);
