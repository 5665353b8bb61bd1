"""The progress of imports."""

from contextlib import ExitStack

from app.commands.terminal.progress import progress
from app.domain.values.installation import OnProgress, ignore_progress


class SectionProgress:
    """The progress of each section, one after the other."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._title = ""
        self._show: OnProgress = ignore_progress

    def show(self, title: str, done: int, total: int) -> None:
        if title != self._title:
            self._stack.close()
            self._title = title
            self._show = self._stack.enter_context(progress(f"Importing {title.lower()}"))
        self._show(done, max(total, done))
