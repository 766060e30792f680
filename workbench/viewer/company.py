"""All that is drawn of a player: one model, or several beside each other or as ghosts on one floor, and the marks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.viewer import floor, framing
from workbench.viewer.backend import import_polyscope
from workbench.viewer.camera import FIELD_OF_VIEW_DEG, Follower, Vector, View, view_of
from workbench.viewer.ensemble import COLOURS, Troupe, columns_of
from workbench.viewer.framing import Framing
from workbench.viewer.hand import body_name
from workbench.viewer.look import Theme, blend
from workbench.viewer.marks import Marks
from workbench.viewer.projection import Lens
from workbench.viewer.scene import Dress, Scene
from workbench.viewer.view import ViewSettings

Layout = Literal["tiles", "ghosts"]

APART = 2.7
"""Between the middles of two models beside each other, in radii."""

LOOKED_DOWN = -25.0
"""The elevation that models beside each other are seen from, in degrees, unless their own view is steeper."""

STEEP = -45.0
"""The elevation from which on rows that stand on one level hide nothing of each other."""

BEFORE = 0.55
"""How far before the middle of a model its caption begins at least, in radii, along the floor."""
WRITTEN = 0.6
"""The height of a caption, in radii."""

GHOST_OPACITY = 0.5
GHOST_PASSES = 2
"""Layers of see-through things that are told apart; each costs as much as the whole picture."""

PALE = 0.55
"""How far the colours of ghosts that are not see-through go towards the background."""

SLOWEST_S = 0.05
"""What a picture with see-through ghosts may take to draw while they are watched."""
TRIED = 8
"""So many pictures tell how long it takes."""

STRIDE = 1.3
"""So many times as far from its middle as now reaches what walks, in its longest strides."""

WIDEST = 4.0
"""How far the middle between ghosts may be from the chosen one for all to be seen, in radii; beyond, it is followed."""


@dataclass(eq=False)
class _Place:
    """One of the models."""

    scene: Scene
    marks: Marks
    follower: Follower
    slot: Vector
    """Where its floor is, beside the others', `(3,)`; of one model alone and of ghosts the origin."""
    point: Vector
    """What is followed of it, `(3,)`."""
    island: Any | None = None


class Company:
    """The structures of every model of a player.

    Polyscope must have been started before, and is stopped after this was closed.

    Args:
        player: Whose states are drawn.
        theme: The colours around them.
        view: What is shown of them.
        layout: How several are arranged.
        front: The view that several beside each other face; the usual one without.
    """

    def __init__(
        self,
        player: Troupe,
        theme: Theme,
        view: ViewSettings,
        layout: Layout = "tiles",
        *,
        front: View | None = None,
    ) -> None:
        self._player = player
        self._theme = theme
        self._view = view
        self._layout = layout
        self._polyscope = import_polyscope()
        core = player.session.env.unwrapped
        self._model = core.model
        self.framing: Framing = framing.frame(core.model, follow=getattr(core, "follow_body", None))
        usual = view_of(self.framing)
        self._front = front or View(usual.azimuth_deg, min(usual.elevation_deg, LOOKED_DOWN))
        self._tile = floor.island_tile(self.framing.radius)
        self._patch = floor.island(self.framing.radius)
        self._bodies = {body_name(self._model, body): body for body in range(self._model.nbody)}
        self._shown: tuple[Any, ...] = ()
        self._took: list[float] = []
        self._is_solid = False
        """Whether ghosts are pale instead of see-through."""
        self._places: list[_Place] = []
        self._build()

    @property
    def is_tiled(self) -> bool:
        """Whether several models stand beside each other."""
        return len(self._player.lanes) > 1 and self._layout == "tiles"

    @property
    def span(self) -> float:
        """How large what is to be seen at once is, in metres; a camera that follows keeps it as large."""
        if self.is_tiled:
            return self.framing.radius
        return self.framing.radius + float(np.linalg.norm(self._middle() - self._chosen.point))

    def usual_view(self, wanted: View | None = None, aspect: float = 4 / 3) -> View:
        """Return the wanted view with a distance, or the one that suits the models.

        Args:
            wanted: The view, its distance 0 where it is to be found.
            aspect: Width of the picture over its height, as far as nothing lies over it.
        """
        if not self.is_tiled or (wanted is not None and wanted.distance):
            return view_of(self.framing, wanted, aspect)
        view = wanted or self._front
        radius = self.framing.radius
        right, up = _across(view), np.cross(_across(view), view.direction)
        half = math.tan(math.radians(FIELD_OF_VIEW_DEG / 2))
        above, below = self._seen
        distance = 0.0
        for place in self._places:
            x, y, nearer = (float(axis @ place.slot) for axis in (right, up, -view.direction))
            wide, high = abs(x) + 1.05 * radius, max(y + above, below - y)
            distance = max(distance, nearer + max(wide / (half * aspect), high / half))
        # What is nearer than the middle of a model is seen larger.
        return View(view.azimuth_deg, view.elevation_deg, distance + 0.3 * radius)

    def corners(self) -> Vector:
        """Return points, `(n, 3)`, that hold all that is to be seen at once between them, as it is drawn now.

        Of ghosts that are too far from each other for one picture, only the chosen one and those near it count.
        """
        held = [np.zeros((0, 3))]
        most = WIDEST * self.framing.radius
        is_split = not self.is_tiled and float(np.linalg.norm(self._away())) > most
        for place, data in zip(self._places, self._player.datas, strict=True):
            if is_split and float(np.linalg.norm(place.point - self._chosen.point)) > most:
                continue
            points = framing.corners(self._model, data)
            if self.framing.follow_body is not None:
                points = place.point + STRIDE * (points - place.point)
            held.append(points + self._offset(place))
        return np.concatenate(held)

    def place(self, index: int) -> Vector:
        """Return where the middle of one of the models is drawn, `(3,)`."""
        place = self._places[index]
        return place.point + self._offset(place)

    def caption_place(self, index: int, lens: Lens) -> tuple[float, float] | None:
        """Return the pixel before the feet of a model that stands beside others; None where it is out of sight."""
        point = self.place(index)
        point[2] = self.framing.floor_height + self._places[index].slot[2]
        level = self._places[index].slot - lens.eye
        level[2] = 0.0
        before = point - self._before * level / max(float(np.linalg.norm(level)), 1e-9)
        # Seen from below, what is before the feet is above them.
        seen = [pixel for pixel in (lens.to_screen(point), lens.to_screen(before)) if pixel is not None]
        return max(seen, key=lambda pixel: pixel[1], default=None)

    def caption_height(self, lens: Lens) -> float:
        """Return how high captions below models that stand beside each other may be, in pixels, to cover none."""
        return min(lens.pixels(WRITTEN * self.framing.radius, place.slot) for place in self._places)

    def offset(self, index: int) -> Vector:
        """Return how far beside its place in its own world a model is drawn, `(3,)`."""
        return self._offset(self._places[index])

    def target(self, moved_s: float, *, jumped: bool) -> Vector:
        """Follow the models for so much simulated time, and return what the camera should look at, `(3,)`."""
        for place, data in zip(self._places, self._player.datas, strict=True):
            place.follower.along_s = self._view.smoothing_s
            if jumped:
                place.follower.reset()
            place.point = place.follower.update(self.framing.target(data), moved_s)
        if self.is_tiled:
            # Their floors surround the origin.
            return np.array([0.0, 0.0, float(np.mean([place.point[2] for place in self._places]))])
        return self._middle()

    def update(self, target: Vector, eye: Vector) -> None:
        """Move everything to where it is.

        Args:
            target: What the camera looks at, `(3,)`.
            eye: Where it is, `(3,)`.
        """
        if self._needs_rebuilding():
            self._rebuild()
        hidden = {self._bodies[name] for name in self._view.hidden if name in self._bodies}
        for index, (place, data) in enumerate(zip(self._places, self._player.datas, strict=True)):
            offset = self._offset(place) if self.is_tiled else None
            place.scene.show(hidden, self._view.parts)
            place.scene.update(data, target, offset)
            self._move_island(place)
            chosen = index == self._player.chosen or self.is_tiled
            place.marks.update(data, self._view.marks if chosen else (), eye, offset)

    def mark_again(self, eye: Vector) -> None:
        """Draw the marks anew for another place of the eye, everything else being where it was."""
        for index, (place, data) in enumerate(zip(self._places, self._player.datas, strict=True)):
            if index == self._player.chosen or self.is_tiled:
                place.marks.update(data, self._view.marks, eye, self._offset(place) if self.is_tiled else None)

    def took(self, seconds: float) -> None:
        """Note how long a picture took to draw; where that is too long to be watched, ghosts turn pale instead."""
        if not self._has_ghosts or self._is_solid:
            return
        self._took.append(seconds)
        if len(self._took) == TRIED:
            # The fastest half: what else the machine did meanwhile is no fault of theirs.
            self._is_solid = sorted(self._took)[TRIED // 2 - 1] > SLOWEST_S
            self._took.clear()

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the models."""
        self._theme = theme
        self._rebuild()

    def close(self) -> None:
        """Let go of every structure."""
        for place in self._places:
            place.scene.close()
            place.marks.close()
            if place.island is not None:
                place.island.remove()
        self._places.clear()

    @property
    def _chosen(self) -> _Place:
        return self._places[self._player.chosen]

    def _middle(self) -> Vector:
        """Return the middle between the ghosts, as long as they are near enough to be seen together."""
        away = self._away()
        far = float(np.linalg.norm(away))
        most = WIDEST * self.framing.radius
        # Those that are too far away for one picture are given up little by little.
        middle: Vector = self._chosen.point + away * min(1.0, (most / max(far, 1e-9)) ** 8)
        return middle

    def _away(self) -> Vector:
        """Return how far the middle between all is from the chosen one, `(3,)`."""
        points = np.array([place.point for place in self._places])
        away: Vector = (points.min(axis=0) + points.max(axis=0)) / 2 - self._chosen.point
        return away

    @property
    def _has_ghosts(self) -> bool:
        return len(self._player.lanes) > 1 and self._layout == "ghosts"

    def _key(self) -> tuple[Any, ...]:
        return frozenset(self._view.groups), self._player.chosen if self._has_ghosts else 0, self._is_solid

    def _needs_rebuilding(self) -> bool:
        return self._shown != self._key()

    def _rebuild(self) -> None:
        points = [(place.follower, place.point) for place in self._places]
        self.close()
        self._build()
        for place, (follower, point) in zip(self._places, points, strict=True):
            place.follower, place.point = follower, point

    def _build(self) -> None:
        self._shown = self._key()
        count = len(self._player.lanes)
        if self._is_solid:
            self._polyscope.set_transparency_mode("none")
        elif self._has_ghosts:
            self._polyscope.set_transparency_render_passes(GHOST_PASSES)
        for index in range(count):
            name = f"{index} " if count > 1 else ""
            dress = self._ghost(index) if self._has_ghosts else Dress(name, has_floor=count == 1)
            # Of ghosts only the chosen one stands on the floor: shadows are half of what has to be drawn.
            has_shadows = not self._has_ghosts or index == self._player.chosen
            scene = Scene(
                self._model,
                self.framing,
                self._theme,
                groups=self._view.groups,
                dress=dress,
                casts_shadows=has_shadows,
            )
            marks = Marks(self._model, self.framing.radius, name=name)
            point = self.framing.target(self._player.lanes[index].data(None))
            place = _Place(scene, marks, Follower(), self._slot(index), np.array(point))
            if self.is_tiled:
                place.island = self._register_island(name)
            self._places.append(place)

    def _ghost(self, index: int) -> Dress:
        chosen = index == self._player.chosen
        pale = self._is_solid and not chosen
        tint = blend(COLOURS[index], self._theme.background, PALE) if pale else COLOURS[index]
        opacity = 1.0 if chosen or self._is_solid else GHOST_OPACITY
        return Dress(f"{index} ", tint, opacity, has_floor=chosen, has_scenery=chosen)

    @property
    def _seen(self) -> tuple[float, float]:
        """How far above and below its middle a model is seen from the front, with its caption, in metres."""
        framing, elevation = self.framing, self._front.elevation_deg
        level, across = math.cos(math.radians(elevation)), abs(math.sin(math.radians(elevation)))
        # The sphere around it holds it however it is turned.
        still = min(framing.radius, framing.height / 2 * level + framing.wide * across)
        feet = (float(framing.centre[2]) - framing.floor_height) * level + self._before * across
        return max(still, framing.upright(elevation)), feet + WRITTEN * framing.radius

    @property
    def _before(self) -> float:
        """How far before the middle of a model its caption begins, in metres."""
        return max(self.framing.wide, BEFORE * self.framing.radius)

    def _slot(self, index: int) -> Vector:
        """Return where the floor of a model is: in rows that rise like seats, each as far from the usual camera.

        So the models behind are as large as those before, and none hides another. Seen from steeply above, where the
        floors behind would hide the models before, the rows stand on one level.
        """
        if not self.is_tiled:
            return np.zeros(3)
        count = len(self._player.lanes)
        columns = columns_of(count)
        rows = math.ceil(count / columns)
        row, column = divmod(index, columns)
        in_row = min(columns, count - row * columns)
        right = _across(self._front)
        above, below = self._seen
        x = (column - (in_row - 1) / 2) * APART * self.framing.radius
        y = ((rows - 1) / 2 - row) * (above + below) + (below - above) / 2
        up = np.cross(right, self._front.direction)
        if self._front.elevation_deg < STEEP:
            up = np.array([up[0], up[1], 0.0]) / (up[0] ** 2 + up[1] ** 2)
        return np.array(x * right + y * up)

    def _offset(self, place: _Place) -> Vector:
        if not self.is_tiled:
            return np.zeros(3)
        return np.array([place.slot[0] - place.point[0], place.slot[1] - place.point[1], place.slot[2]])

    def _register_island(self, name: str) -> Any:
        patch = self._patch
        island = self._polyscope.register_surface_mesh(f"{name}island", patch.vertices, patch.faces)
        island.set_material("flat")
        colours = floor.checker_colours(patch, self._tile, self._theme, tiles=floor.ISLAND_TILES)
        island.add_color_quantity("tiles", colours, enabled=True)
        island.set_back_face_policy("cull")
        return island

    def _move_island(self, place: _Place) -> None:
        if place.island is None:
            return
        place.island.set_enabled("floor" in self._view.parts)
        phase = floor.island_phase(place.point, self._tile)
        matrix = np.eye(4, dtype=np.float32)
        # Where the faded edges of two lie over each other, one is a hair above the other, or they would flicker.
        height = self.framing.floor_height + place.slot[2] - 0.001 * self.framing.radius * self._places.index(place)
        matrix[:3, 3] = (place.slot[0] - phase[0], place.slot[1] - phase[1], height)
        place.island.bound_instance.set_transform(matrix)
        reach = floor.ISLAND_RADIUS * self.framing.radius
        colours = floor.checker_colours(
            self._patch, self._tile, self._theme, tiles=floor.ISLAND_TILES, around=phase, reach=reach
        )
        place.island.get_quantity_buffer("tiles", "colors").update_data_from_host(colours.astype(np.float32))


def _across(view: View) -> Vector:
    """Return the unit vector to the right in a view, `(3,)`."""
    azimuth = math.radians(view.azimuth_deg)
    return np.array([math.sin(azimuth), -math.cos(azimuth), 0.0])
