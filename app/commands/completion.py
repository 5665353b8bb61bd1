"""``flask completion``: what makes a shell complete commands, options and names."""

import click
from click.shell_completion import ShellComplete, get_completion_class

from app.commands.terminal.command import standalone
from app.commands.terminal.output import output

_PROGRAM = "flask"
_VARIABLE = "_FLASK_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")


@standalone(
    "completion",
    examples=[
        ('eval "$(flask completion bash)"', "in ~/.bashrc"),
        ('eval "$(flask completion zsh)"', "in ~/.zshrc, after compinit"),
        (
            ("flask completion fish > ~/.config/fish/completions/flask.fish"),
            "installs it permanently",
        ),
    ],
)
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    """Print a script that completes `flask` commands on TAB.

    Works in the folder of wsgi.py, or anywhere if FLASK_APP is set.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"Completion isn't available for {shell}.")
    completer = kind(click.Command(_PROGRAM), {}, _PROGRAM, _VARIABLE)
    # Past the shell's own class: it would look for that shell's version here, not where it runs.
    script = ShellComplete.source(completer)
    # Descriptions have commas of their own; click's script for fish ends them at the first.
    script = script.replace('string split "," ', 'string split --max 1 "," ')
    # Names can have spaces, which bash would take for the end of the word.
    script = script.replace("COMPREPLY+=($value)", """COMPREPLY+=("$(printf '%q' "$value")")""")
    output().show_value("script", script.strip())
