"""A stand-in for an HTTP client that differs in some methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def twin_of(original: Any, methods: dict[str, Callable[..., Any]]) -> Any:
    """Returns an object of a subclass that has the state of the original, and other methods.

    The original is left as it is, because several clients may share it. The twin sees each later change of the
    original, and the other way round. Raises TypeError for an object whose state cannot be shared.
    """
    kind: Any = type(original)
    members: dict[str, Any] = {name: _method(original, name, method) for name, method in methods.items()}
    # The original closes what they share.
    members["__del__"] = lambda self: None
    members["__module__"] = kind.__module__
    try:
        twin = object.__new__(type(kind)(kind.__name__, (kind,), members))
        twin.__dict__ = original.__dict__
    except AttributeError as error:
        raise TypeError(f"The HTTP client {kind.__name__} cannot be watched") from error
    return twin


def _method(original: Any, name: str, method: Callable[..., Any]) -> property:
    # A property is found before the state, in which a program may have replaced the method of the original.
    return property(lambda self: method, lambda self, value: setattr(original, name, value))
