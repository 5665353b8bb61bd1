"""The shop: storefront access, settings and emails."""
