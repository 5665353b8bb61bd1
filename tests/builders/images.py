"""Image files to upload."""

from io import BytesIO

from PIL import Image

from app.domain.values.inputs import Upload


def png(width: int = 30, height: int = 20) -> bytes:
    """Return a red image."""
    file = BytesIO()
    Image.new("RGB", (width, height), (255, 0, 0)).save(file, "PNG")
    return file.getvalue()


def picture() -> Upload:
    return Upload("me.png", "image/png", png())
