"""Pictures as people would send them."""

from io import BytesIO

from PIL import Image

from app.domain.values.uploads import Upload


def png(width: int = 30, height: int = 20) -> bytes:
    """A red picture."""
    file = BytesIO()
    Image.new("RGB", (width, height), (255, 0, 0)).save(file, "PNG")
    return file.getvalue()


def picture() -> Upload:
    return Upload("me.png", "image/png", png())
