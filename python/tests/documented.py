"""What people use says what it does, and has types."""

import inspect


def members(thing):
    yield thing
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        for name, member in vars(thing).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, (property, classmethod))):
                yield member.fget if isinstance(member, property) else inspect.unwrap(getattr(member, "__func__", member))


def check(thing):
    for member in members(thing):
        assert member.__doc__, member
        if inspect.isfunction(member):
            assert "return" in member.__annotations__, member
            untyped = set(inspect.signature(member).parameters) - set(member.__annotations__) - {"self", "cls"}
            assert not untyped, (member, untyped)
