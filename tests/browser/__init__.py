"""The console as people see it: in a real Chromium, by keyboard and pointer."""
