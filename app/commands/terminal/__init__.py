"""What all command groups share at a terminal: options, prompts, output and exit codes.

``command`` declares a command with ``--json`` and ``--short``; ``output`` prints what it returns.
"""
