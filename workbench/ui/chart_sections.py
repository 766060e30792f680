"""The sections in which the charts of runs are paged, of one run as of a group of seeds."""

from __future__ import annotations

from abc import ABC, abstractmethod

from workbench.ui.charts.model import ChartData

SECTIONS = ("Return", "Terms", "Endings", "Losses", "System")


class SectionedCharts(ABC):
    """Charts in sections; each section holds at least one chart, which may say why it is empty."""

    def section(self, name: str) -> list[ChartData]:
        """Return the charts of one of `SECTIONS`."""
        makers = (self._returns, self._terms, self._endings, self._losses, self._system)
        return dict(zip(SECTIONS, makers, strict=True))[name]()

    @abstractmethod
    def _returns(self) -> list[ChartData]: ...

    @abstractmethod
    def _terms(self) -> list[ChartData]: ...

    @abstractmethod
    def _endings(self) -> list[ChartData]: ...

    @abstractmethod
    def _losses(self) -> list[ChartData]: ...

    @abstractmethod
    def _system(self) -> list[ChartData]: ...
