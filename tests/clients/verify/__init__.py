"""Programs that verify webhook requests, as the webhooks reference shows them."""
