"""What the console alone needs: its sessions, Home, search and navigation badges.

It sits above all subjects, because its pages show something of each.
"""
