"""Pictures for films of several policies: beside each other or as ghosts, each with its name and its return below."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.viewer import backend
from workbench.viewer.camera import CameraName, find_camera, projection_of
from workbench.viewer.company import Company, Layout
from workbench.viewer.ensemble import COLOURS, Together, columns_of
from workbench.viewer.frames import UP, PixelFormat, look, look_through, stand_at
from workbench.viewer.look import Theme
from workbench.viewer.preview import rendered_pictures
from workbench.viewer.projection import Lens
from workbench.viewer.scene import length_scale
from workbench.viewer.view import ViewSettings

LINE = 1 / 24
"""Height of a caption's letters over that of the picture."""


class CompanyFrames:
    """Pictures of several MuJoCo models with no display.

    Args:
        together: What is played.
        titles: What each is called.
        size: Width and height in pixels.
        samples: Pixels drawn for each one shown, along each side.
        theme: The colours around the models.
        layout: How they are arranged.
        view: What is drawn, and from where.
        camera: The camera of the model to look through instead; of ghosts the first one's.

    Raises:
        RequestError: There is no such camera, or the models stand beside each other, where it would see only one.
        GraphicsError: Nothing can be drawn here.
    """

    def __init__(
        self,
        together: Together,
        titles: Sequence[str],
        *,
        size: tuple[int, int],
        samples: int,
        theme: Theme,
        layout: Layout,
        view: ViewSettings,
        camera: CameraName | None = None,
    ) -> None:
        core = together.session.env.unwrapped
        if camera is not None and layout == "tiles":
            raise RequestError(
                f"the camera {camera} looks at one model, and several stand side by side.",
                hint="--ghost shows all of them through the first one's; AZIMUTH,ELEVATION looks at them side by side.",
            )
        self._camera = None if camera is None else find_camera(core.model, camera)
        self._together = together
        self._titles = titles
        self._view = view
        self._size = size
        self._jumped = True
        backend.start("offscreen", size=size, samples=samples, theme=theme)
        self._polyscope = backend.import_polyscope()
        with backend.failures_explained():
            self._company = Company(together, theme, view, layout)
        if self._camera is not None:
            look_through(self._polyscope, projection_of(core.model, self._camera, length_scale(self._company.framing)))

    @property
    def format(self) -> PixelFormat:
        """RGB, top row first."""
        return PixelFormat(self._size, "rgb24", bottom_up=False)

    def restart(self) -> None:
        """Let the camera jump to the models instead of following."""
        self._jumped = True

    def draw(self, elapsed_s: float) -> NDArray[np.uint8]:
        """Return the picture of now, `(height, width, 3)`."""
        ps, company = self._polyscope, self._company
        target = company.target(elapsed_s, jumped=self._jumped)
        self._jumped = False
        view = company.usual_view(self._view.camera, self._size[0] / self._size[1])
        eye = target - view.distance * (company.span / company.framing.radius) * view.direction
        with backend.failures_explained():
            company.update(target, eye)
            if self._camera is None:
                look(ps, eye, target, UP)
            else:
                stand_at(ps, self._together.datas[0], self._camera, target, company.framing.radius)
            pixels = ps.screenshot_to_buffer(False)
            lens = Lens(np.asarray(ps.get_camera_view_matrix(), dtype=float), *map(float, self._size))
        count, height = len(self._titles), self._size[1]
        if company.is_tiled:
            places = [company.caption_place(index, lens) for index in range(count)]
        else:
            # Ghosts are told apart by their colours; the captions are out of their way, in the lower left corner.
            places = [(0.0, height * (1 - 1.9 * LINE * (count - index))) for index in range(count)]
        return captioned(pixels[..., :3], captions(self._together, self._titles), places)

    def close(self) -> None:
        """Let go of the models and of the graphics."""
        self._company.close()
        backend.stop()


class MosaicFrames:
    """Pictures that several environments without a MuJoCo model render themselves, beside each other.

    Args:
        together: What is played; reset already, for environments render nothing before.
        titles: What each is called.
    """

    def __init__(self, together: Together, titles: Sequence[str]) -> None:
        self._together = together
        self._titles = titles
        height, width = rendered_pictures(together).shape[:2]
        self._size = (width - width % 2, height - height % 2)

    @property
    def format(self) -> PixelFormat:
        """RGB, top row first."""
        return PixelFormat(self._size, "rgb24", bottom_up=False)

    def restart(self) -> None:
        """Nothing to do: the environments hold their own cameras."""

    def draw(self, elapsed_s: float) -> NDArray[np.uint8]:
        """Return the picture of now, `(height, width, 3)`."""
        width, height = self._size
        columns = columns_of(len(self._titles))
        rows = -(-len(self._titles) // columns)
        places = [
            ((index % columns + 0.5) * width / columns, (index // columns + 1) * height / rows - 1.8 * LINE * height)
            for index in range(len(self._titles))
        ]
        whole = rendered_pictures(self._together)[:height, :width]
        return captioned(whole, captions(self._together, self._titles), places)

    def close(self) -> None:
        """Nothing to let go of: whoever made the environments closes them."""


def captions(together: Together, titles: Sequence[str]) -> list[str]:
    """Return what is written below each: its name, its return, and how it ended once it has."""
    lines = []
    for title, lane in zip(titles, together.lanes, strict=True):
        session = lane.session
        ended = f"   {session.ended.reason} at {session.steps}" if session.ended else ""
        lines.append(f"{title}   {session.return_:.1f}{ended}")
    return lines


def captioned(
    picture: NDArray[np.uint8], lines: Sequence[str], places: Sequence[tuple[float, float] | None]
) -> NDArray[np.uint8]:
    """Return a picture `(height, width, 3)` with a line in each policy's colour at each place, kept within it.

    Args:
        picture: What is written on.
        lines: One for each policy.
        places: The middle of the upper edge of each, in pixels; None for one that is out of sight.
    """
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(np.ascontiguousarray(picture))
    canvas = ImageDraw.Draw(image)
    height = max(9.0, LINE * image.height)
    font = ImageFont.load_default(height)
    for index, (line, place) in enumerate(zip(lines, places, strict=True)):
        if place is None:
            continue
        # The built-in font has no thin spaces.
        words = line.replace("\u202f", " ").replace("\u2009", " ").replace("\u00a0", " ")
        left, top, right, bottom = canvas.textbbox((0, 0), words, font=font)
        pad = 0.4 * height
        x = min(max(place[0] - right / 2, pad), image.width - right - pad)
        y = min(max(place[1] + pad, pad), image.height - bottom - 1.2 * pad)
        colour = tuple(round(255 * part) for part in COLOURS[index])
        box = (x + left - pad, y + top - 0.6 * pad, x + right + pad, y + bottom + 0.6 * pad)
        canvas.rounded_rectangle(box, radius=pad, fill=colour)
        canvas.text((x, y), words, font=font, fill=(255, 255, 255))
    return np.asarray(image)
