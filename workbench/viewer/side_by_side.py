"""Pictures for films of several policies: beside each other or as ghosts, each with its name and its return below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.viewer import backend
from workbench.viewer.camera import CameraName, find_camera, projection_of
from workbench.viewer.captions import PARTED, Box, Caption, Measure, beside, stacked
from workbench.viewer.company import Company, Layout
from workbench.viewer.ensemble import COLOURS, Together, columns_of
from workbench.viewer.frames import UP, PixelFormat, look, look_through, stand_at
from workbench.viewer.look import Theme
from workbench.viewer.preview import rendered_pictures
from workbench.viewer.projection import Lens
from workbench.viewer.scene import length_scale
from workbench.viewer.view import ViewSettings

LINE = 1 / 24
"""Height of a caption's letters over that of the picture, where there is room."""

SMALLEST_PX = 9.0
"""The least height of letters that can be read."""


class _Letters(TypedDict):
    """How the captions of a picture are written."""

    letters: float
    smallest: float
    measure: Measure


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
            self._company = Company(together, theme, view, layout, front=view.camera)
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
        texts, picture = captions(self._together, self._titles), pixels[..., :3]
        if not company.is_tiled:
            # Ghosts are told apart by their colours; the captions are out of their way, in the corner.
            return written(picture, stacked(spelled(texts), _whole(picture), **_letters(picture)))
        places = [company.caption_place(index, lens) for index in range(len(texts))]
        return captioned(picture, texts, places, highest=company.caption_height(lens))

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
        wide, high = width / columns, height / rows
        rooms = [Box(index % columns * wide, index // columns * high, wide, high) for index in range(len(self._titles))]
        whole = rendered_pictures(self._together)[:height, :width]
        texts = spelled(captions(self._together, self._titles))
        # As low as they can be.
        places = [(room.left + wide / 2, room.bottom) for room in rooms]
        return written(whole, beside(texts, places, rooms, columns=1, **_letters(whole)))

    def close(self) -> None:
        """Nothing to let go of: whoever made the environments closes them."""


def captions(together: Together, titles: Sequence[str]) -> list[str]:
    """Return what is written below each: its name, its return, and how it ended once it has."""
    lines = []
    for title, lane in zip(titles, together.lanes, strict=True):
        session = lane.session
        ended = f"{PARTED}{session.ended.reason} at {session.steps}" if session.ended else ""
        lines.append(f"{title}{PARTED}{session.return_:.1f}{ended}")
    return lines


def captioned(
    picture: NDArray[np.uint8],
    lines: Sequence[str],
    places: Sequence[tuple[float, float] | None],
    *,
    highest: float = math.inf,
) -> NDArray[np.uint8]:
    """Return a picture `(height, width, 3)` with a line in each policy's colour at or near each place, whole.

    Args:
        picture: What is written on.
        lines: One for each policy; broken where there is no room for it.
        places: The middle of the upper edge of each, in pixels; None for one that is out of sight.
        highest: How high a caption should be at most, in pixels, to cover nothing else.
    """
    rooms = [_whole(picture)] * len(lines)
    columns = columns_of(len(lines))
    return written(
        picture, beside(spelled(lines), places, rooms, columns=columns, highest=highest, **_letters(picture))
    )


def written(picture: NDArray[np.uint8], placed: Sequence[Caption | None]) -> NDArray[np.uint8]:
    """Return a picture `(height, width, 3)` with captions in the policies' colours, in order."""
    from PIL import Image, ImageDraw

    image = Image.fromarray(np.ascontiguousarray(picture))
    canvas = ImageDraw.Draw(image)
    for index, caption in enumerate(placed):
        if caption is None:
            continue
        colour = tuple(round(255 * part) for part in COLOURS[index])
        box = caption.box
        canvas.rounded_rectangle(
            (box.left, box.top, box.right - 1, box.bottom - 1), radius=0.4 * caption.letters, fill=colour
        )
        for line, x, y in caption.rows:
            canvas.text((x, y), line, font=_font(caption.letters), anchor="lm", fill=(255, 255, 255))
    return np.asarray(image)


def spelled(lines: Sequence[str]) -> list[str]:
    """Return lines without the thin spaces that the built-in font lacks."""
    return [line.replace("\u202f", " ").replace("\u2009", " ").replace("\u00a0", " ") for line in lines]


def _whole(picture: NDArray[np.uint8]) -> Box:
    return Box(0.0, 0.0, float(picture.shape[1]), float(picture.shape[0]))


def _letters(picture: NDArray[np.uint8]) -> _Letters:
    return {
        "letters": max(SMALLEST_PX, LINE * picture.shape[0]),
        "smallest": SMALLEST_PX,
        "measure": _measured,
    }


@lru_cache(maxsize=4096)
def _measured(words: str, size: float) -> float:
    # Names and endings are the same in every picture.
    return float(_font(size).getlength(words))


@cache
def _font(size: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)
