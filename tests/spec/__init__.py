"""The wire contract, driven over HTTP against the real server: one test a clause, and a replay.

``server`` starts ``flask serve`` as a process of its own and ``client`` speaks to it; ``world`` is
who lives in its database, ``forging`` makes the tokens that they never got from us. The recorded
exchanges of the platform that the contract describes lie in ``recordings``; ``exchanges`` reads
them, ``arrangements`` puts the installation into the state that each was recorded in,
``comparison`` says what has to agree, and ``differences`` lists where we differ on purpose.
"""
