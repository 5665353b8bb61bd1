"""Releases: the distribution, its accompanying files, and the record of what was released.

``python -m release VERSION`` makes one (``make release``); CONTRIBUTING.md says what a version
promises and what is done by hand.
"""
