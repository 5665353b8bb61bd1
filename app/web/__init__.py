"""What the HTTP edges share: who calls and from where, limits, headers of an answer, logs."""
