"""What a test starts from: people, groups, apps and sessions, in one call each."""
