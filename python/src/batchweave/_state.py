"""Where a job is in its stream: a few numbers, alike on every rank."""

from __future__ import annotations

from typing import Any, NamedTuple

from batchweave.errors import InvalidArgument

_VERSION = 1


class State(NamedTuple):
    """``step``: the next one, counted along the epoch; ``seed``: of the epochs' orders, -1 where there is none; ``start``: the
    first step of each epoch.
    """

    stream: str
    step: int
    epoch: int = 0
    seed: int = -1
    start: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {"version": _VERSION, **self._asdict()}

    @classmethod
    def from_dict(cls, state: Any, stream: str, seed: int) -> State:
        """Errors: ``InvalidArgument`` (another version's, another stream's, of another seed, no state)."""
        if not isinstance(state, dict) or state.get("version") != _VERSION:
            raise InvalidArgument(f"no state of this version ({_VERSION}): found {state!r:.200}")
        found = {name: state.get(name) for name in cls._fields}
        numbers = (found["step"], found["epoch"], found["start"], found["seed"])
        if not isinstance(found["stream"], str) or not all(type(number) is int for number in numbers) or min(numbers[:3]) < 0:
            raise InvalidArgument(f"a state that is damaged: found {state!r:.200}")
        if found["stream"] != stream:
            raise InvalidArgument(f"the state is of another stream: expected id {stream}, found {found['stream']}")
        if found["seed"] != seed:
            raise InvalidArgument(f"the state is of a job with shuffle_seed={found['seed']}, this one has {seed} (-1: none)")
        return cls(**found)
