"""Client libraries from npm, as storefronts and apps use them, against a server.

The server has its default settings. `make test` installs the libraries that the lock file lists.
"""
