"""Modules that are loaded when something of theirs is first used.

The models of the published pages take a tenth of a second and ten megabytes, and a console that
reads columns never needs most of them.
"""

from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def later(name: str) -> Any:
    """Return what stands for a module and loads it at the first look into it."""
    return _Later(name)
