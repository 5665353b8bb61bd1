"""What the HTTP edges share."""
