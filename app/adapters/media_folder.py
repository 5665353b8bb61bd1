"""A media folder of another installation."""

from pathlib import Path

from app.ports.import_source import UnreadableFile

_MEBIBYTE = 1024 * 1024


class LocalMediaFolder:
    """The files below ``folder``, and no others, whatever links there are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def version(self, path: str) -> str:
        try:
            facts = self._file(path).stat()
        except OSError as error:
            raise UnreadableFile(_sentence(error)) from None
        return f"{facts.st_size} {facts.st_mtime_ns}"

    def read(self, path: str, most: int) -> bytes:
        try:
            with self._file(path).open("rb") as file:
                data = file.read(most + 1)
        except OSError as error:
            raise UnreadableFile(_sentence(error)) from None
        if len(data) > most:
            message = f"The file is larger than {most // _MEBIBYTE} MiB."
            raise UnreadableFile(message)
        return data

    def _file(self, path: str) -> Path:
        try:
            file = (self._folder / path).resolve()
            is_inside = file.is_relative_to(self._folder)
        except (ValueError, RuntimeError):
            raise UnreadableFile("The path isn't a valid one.") from None
        if not is_inside:
            raise UnreadableFile("The path leads out of the media folder.")
        if not file.is_file():
            raise UnreadableFile("There is no such file.")
        return file


def _sentence(error: OSError) -> str:
    return f"{error.strerror or 'It cannot be read'}."
