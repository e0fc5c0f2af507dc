"""Packages that only parts of this one need."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def needs(package: str, least: str) -> Iterator[None]:
    """Says what to do where ``package`` is not there to be imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        told = f"this part of batchweave needs {package}, which is not installed: pip install '{package}>={least}'"
        raise ModuleNotFoundError(told, name=package) from None
