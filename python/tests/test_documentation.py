"""What people use says what it does, and has types."""

import inspect

import pytest

import batchweave
import batchweave.torch
from batchweave import errors

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (batchweave, batchweave.torch, errors)
    for name in getattr(module, "__all__", errors.__dict__)
    if callable(getattr(module, name)) and not name.startswith("_")
}


def members(thing):
    yield thing
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        for name, member in vars(thing).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, (property, classmethod))):
                yield member.fget if isinstance(member, property) else inspect.unwrap(getattr(member, "__func__", member))


@pytest.mark.parametrize("name", PUBLIC)
def test_each_public_thing_is_documented_and_typed(name):
    for member in members(PUBLIC[name]):
        assert member.__doc__, member
        if inspect.isfunction(member):
            assert "return" in member.__annotations__, member
            untyped = set(inspect.signature(member).parameters) - set(member.__annotations__) - {"self", "cls"}
            assert not untyped, (member, untyped)
