"""The hosted pages: their sessions, and the ways to sign in there.

``sessions`` says who is signed in and begins and ends their sessions; ``sign_in`` has the steps of
the pages, each by the use case that the API has.
"""
