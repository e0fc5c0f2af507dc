"""A rank's place in the mesh: which slices of each step are its own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh

from batchweave.errors import InvalidArgument

# Ranks that differ only in these read the same slices.
_ALIKE = ("pp", "tp")
_DATA = ("dp", "dp_replicate", "dp_shard")
_CONTEXT = ("cp",)


@dataclass(frozen=True)
class Place:
    """``dp_rank`` of ``dp_size`` data-parallel ranks, ``cp_rank`` of ``cp_size`` context-parallel ones."""

    dp_rank: int = 0
    dp_size: int = 1
    cp_rank: int = 0
    cp_size: int = 1

    @classmethod
    def of_mesh(cls, mesh: DeviceMesh) -> Place:
        """The place of this process in a mesh with torchtitan's names: ``pp, dp_replicate, dp_shard, cp, tp``.

        dp_replicate and dp_shard together are dp, as is a dimension ``dp``; ranks along pp and tp read the same.

        Errors: :class:`~batchweave.errors.InvalidArgument` (no names, other names, no dp among them, this process is not in
        the mesh): give the ranks by number then.
        """
        names, coordinate = mesh.mesh_dim_names, mesh.get_coordinate()
        if not names or set(names) - {*_ALIKE, *_DATA, *_CONTEXT}:
            raise InvalidArgument(
                f"the dimensions of a mesh are among pp, dp_replicate, dp_shard (or dp), cp, tp: found {names}; give dp_rank "
                "and dp_size instead, and cp_rank and cp_size"
            )
        if not set(names) & set(_DATA):
            raise InvalidArgument(f"a mesh without a dp dimension: found {names}; give dp_rank and dp_size instead")
        if coordinate is None:
            raise InvalidArgument(f"this process is not in the mesh: {mesh}")
        dp_rank, dp_size = _fold(names, mesh.shape, coordinate, _DATA)
        cp_rank, cp_size = _fold(names, mesh.shape, coordinate, _CONTEXT)
        return cls(dp_rank, dp_size, cp_rank, cp_size)

    @classmethod
    def of_process(cls) -> Place:
        """Every rank of the default process group, or of RANK and WORLD_SIZE as torchrun sets them, is one of dp."""
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return cls(torch.distributed.get_rank(), torch.distributed.get_world_size())
        return cls(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))


def place_of(device_mesh: DeviceMesh | None, ranks: dict[str, int | None]) -> Place:
    """From what a user gave: a mesh, or ranks by number, or neither."""
    given: dict[str, Any] = {name: rank for name, rank in ranks.items() if rank is not None}
    if device_mesh is not None:
        if given:
            raise InvalidArgument(f"a device_mesh says the ranks already: found {', '.join(given)} too")
        return Place.of_mesh(device_mesh)
    for axis in ("dp", "cp"):
        if (f"{axis}_rank" in given) != (f"{axis}_size" in given):
            raise InvalidArgument(f"{axis}_rank and {axis}_size go together: found {given}")
    if given and "dp_rank" not in given:
        raise InvalidArgument(f"cp ranks need dp_rank and dp_size beside them: found {given}")
    return Place(**given) if given else Place.of_process()


def _fold(names: Any, shape: Any, coordinate: Any, wanted: tuple[str, ...]) -> tuple[int, int]:
    rank, size = 0, 1
    for name, extent, index in zip(names, shape, coordinate, strict=True):
        if name in wanted:
            rank, size = rank * extent + index, size * extent
    return rank, size
