"""What people use says what it does, and has types: in the sources, in the stubs, and for those who check theirs."""

import ast
import importlib.resources

import documented
import pytest

import batchweave
import batchweave.torch
from batchweave import _native, errors, safetensors

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (batchweave, batchweave.torch, errors, safetensors)
    for name in getattr(module, "__all__", vars(module))
    if not name.startswith("_") and getattr(getattr(module, name), "__module__", "").startswith("batchweave")
}


@pytest.mark.parametrize("name", PUBLIC)
def test_each_public_thing_is_documented_and_typed(name):
    documented.check(PUBLIC[name])


def test_the_package_brings_its_types():
    installed = importlib.resources.files("batchweave")
    assert (installed / "py.typed").is_file()
    stubs = ast.parse((installed / "_native.pyi").read_text())
    classes = {node.name: {part.name for part in node.body if isinstance(part, ast.FunctionDef)} for node in stubs.body
               if isinstance(node, ast.ClassDef)}  # fmt: skip
    for name in ("Stream", "Producer", "Consumer", "Group", "GlobalBatch", "RankBatch", "Slice"):
        kind = getattr(_native, name)
        assert {member for member in vars(kind) if not member.startswith("_")} == {
            member for member in classes[name] if not member.startswith("_")
        }
