"""The stores and their options, as a job in Python gives them: a cache for the ranks of a host, and servers on this machine."""

import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

import batchweave
from batchweave import errors

_ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def read_all(url, **options):
    """The text of each batch of a sealed stream, read by a rank with a handle of its own."""
    with batchweave.open(url, storage_options=options) as stream, stream.consumer() as rank:
        return [bytes(batch[0]).decode() for batch in rank]


def copies(cache):
    return [path for path in cache.rglob("*") if path.is_file()]


def test_what_one_rank_has_read_others_take_from_the_cache(tmp_path, url, stream, publish, cache):
    publish(5)
    stream.seal()
    expected = [f"{number}:0:0" for number in range(5)]
    assert read_all(url, node_cache_dir=str(cache), node_cache_bytes=str(64 << 20)) == expected
    assert copies(cache)
    payload = next((tmp_path / "run").glob("*/data"))
    payload.rename(tmp_path / "moved")  # Who asks the store now finds nothing.
    with pytest.raises(errors.BatchweaveError):
        read_all(url)
    assert read_all(url, node_cache_dir=str(cache)) == expected


def test_the_cache_is_shared_by_processes(tmp_path, url, stream, publish, cache, run_python):
    publish(5)
    stream.seal()
    script = """
        import sys, batchweave
        options = {"node_cache_dir": sys.argv[2], "node_cache_bytes": "67108864"}
        with batchweave.open(sys.argv[1], storage_options=options) as stream, stream.consumer() as rank:
            print(*(bytes(batch[0]).decode() for batch in rank))
    """
    expected = " ".join(f"{number}:0:0" for number in range(5))
    assert run_python(script, url, cache).strip() == expected
    next((tmp_path / "run").glob("*/data")).rename(tmp_path / "moved")
    assert run_python(script, url, cache).strip() == expected


def test_the_budget_holds(url, stream, cache):
    budget = 4 << 20
    with stream.producer("source") as producer:
        for _ in range(200):  # Small beside the budget: a copy is not kept where another reader has the directory for long.
            producer.publish([[bytes(1 << 16)]])
    stream.seal()
    with batchweave.open(url, storage_options={"node_cache_dir": str(cache), "node_cache_bytes": str(budget)}) as cached:
        assert sum(len(batch[0]) for batch in cached.consumer()) == 200 << 16
    held = sum(path.stat().st_size for path in copies(cache))
    assert budget // 2 < held <= budget


def test_a_pickled_stream_uses_the_same_cache(url, stream, publish, cache):
    publish(1)
    with batchweave.open(url, storage_options={"node_cache_dir": str(cache)}) as cached:
        assert cached.__getstate__()["storage_options"] == {"node_cache_dir": str(cache)}


def test_options_of_the_cache_that_cannot_be_are_refused(url, stream, tmp_path, cache):
    for options, message in (
        ({"node_cache_bytes": "1000000000"}, "without node_cache_dir"),
        ({"node_cache_dir": str(cache), "node_cache_bytes": "much"}, "number of bytes: found=much"),
        ({"node_cache_dir": str(cache), "node_cache_bytes": "1000"}, "node_cache_bytes"),
    ):
        with pytest.raises(errors.InvalidArgument, match=message):
            batchweave.open(url, storage_options=options)
    with pytest.raises(errors.NotFound):
        batchweave.open(url, storage_options={"node_cache_dir": f"{tmp_path}/none/cache"})


_ON_SERVER = """
    import os, sys, batchweave

    folder, _, query = os.environ["STORE_URL"].partition("?")
    url = f"{folder}/run?{query}&node_cache_dir={sys.argv[1]}"
    with batchweave.open(url, create=True) as stream:
        with stream.producer("source") as producer:
            for number in range(8):
                producer.publish([[b"left %d" % number], [b"right %d" % number]], cursor=b"%d" % (number + 1))
        with stream.producer("source") as producer:
            assert producer.cursor == b"8"
        stream.seal()
    for dp_rank, side in enumerate(["left", "right"] * 2):
        with batchweave.open(url) as stream, stream.consumer(dp_rank=dp_rank % 2, dp_size=2) as rank:
            assert [bytes(batch[0]).decode() for batch in rank] == [f"{side} {number}" for number in range(8)]
    print("all arrived")
"""


@pytest.mark.parametrize(("server", "program"), [("s3", "versitygw"), ("minio", "minio"), ("az", "node"), ("gs", "")])
def test_a_stream_on_a_server(server, program, cache):
    if not (_ROOT / "build/servers" / program).exists():
        pytest.skip("the server is not installed: tools/servers.sh")
    command = [_ROOT / "tools/with_server.sh", server, sys.executable, "-c", textwrap.dedent(_ON_SERVER), cache]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "all arrived\n"), done.stderr
    assert copies(cache)
    shutil.rmtree(cache)
