"""Ctrl-C ends whatever waits. By design, not by a clock that a busy machine upsets: every call that may wait looks for signals
again and again, it waits no longer than SIGNAL_INTERVAL between two looks, and it ends at the first look after a signal.
"""

import inspect

import pytest

import batchweave
from batchweave import Consumer, Group, PartReceipt, Producer, Stream, _native


def test_the_time_between_two_looks_is_well_below_a_second():
    assert 0 < _native.SIGNAL_INTERVAL <= 0.25


# Of each way to wait: for a step, for readers, for a server that never answers, for a file system that hangs.
@pytest.mark.parametrize(
    "wait",
    [
        "consumer.next()",
        "unbuffered.next()",
        "list(iter(consumer))",
        "producer.publish([[b'x']])",
        "producer.publish_parts([receipt])",
        "batchweave.open(f's3://bucket/run?region=x&allow_http=true&skip_signature=true&endpoint=http://{silent}')",
        "hang(stream), stream.info()",
        "hang(stream), stream.step_info(0)",
        "hang(stream), stream.seal()",
        "hang(stream), stream.quarantine(range(0, 1), 'bad')",
        "hang(stream), stream.lift_quarantine(range(0, 1))",
        "hang(stream), stream.create_group('other')",
        "hang(stream), stream.open_group('reads-nothing')",
        "hang(stream), stream.producer('other')",
        "hang(stream), stream.consumer()",
        "hang(stream), group.checkpoint('c', step=1)",
        "hang(stream), group.release('c')",
        "hang(stream, 'stream.json'), batchweave.open(sys.argv[1])",
    ],
)
def test_ctrl_c_ends_a_wait_at_the_next_look(url, run_python, wait):
    printed = run_python(
        f"""
        import os, pathlib, signal, socket, sys, threading, time, batchweave
        from batchweave import _native
        signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs ignore it.
        stream = batchweave.open(sys.argv[1], create=True, durable=False)
        consumer, unbuffered = stream.consumer(position=1), stream.consumer(position=1, prefetch_steps=0)
        stream.create_group("reads-nothing")
        group = stream.open_group("reads-nothing")
        producer = stream.producer("source", max_lead_steps=1)
        producer.publish([[b"x"]])
        producer.flush()
        if "publish_parts" in {wait!r}:
            receipt = stream.write_part(producer.next_ticket(dp=1), [[b"x"]], dp=range(1))
        server = socket.create_server(("127.0.0.1", 0))
        silent = "127.0.0.1:%d" % server.getsockname()[1]

        def hang(stream, what="*/manifest/*"):
            # A pipe that nobody writes to: opening it waits for ever.
            for path in pathlib.Path(stream.url).glob(what):
                path.unlink()
                os.mkfifo(path)

        def interrupt():
            global looks_at_signal
            began = _native.signal_checks()
            while _native.signal_checks() < began + 2:
                time.sleep(0.01)  # It does not wait yet.
            looks_at_signal = _native.signal_checks()
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        try:
            {wait}
        except KeyboardInterrupt:
            # One look may fall between the count and the signal.
            print("interrupted" if _native.signal_checks() - looks_at_signal <= 2 else "late")
        else:
            print("did not wait")
        sys.stdout.flush()
        os._exit(0)
        """,
        url,
    )
    assert printed == "interrupted\n"


# The threads that read are stuck for ever; the block that Ctrl-C ends waits for them hardly, and the interpreter's end not.
@pytest.mark.parametrize(
    "read",
    [
        "consumer.next()",
        "list(batchweave.torch.StreamingDataLoader(stream, dp_rank=0, dp_size=1))",
        "list(batchweave.torch.StreamingDataLoader(stream, dp_rank=0, dp_size=1, shuffle_seed=1))",
    ],
)
def test_ctrl_c_ends_blocks_though_the_store_hangs(url, run_python, read):
    printed = run_python(
        f"""
        import os, pathlib, signal, sys, threading, time, batchweave
        from batchweave import _native
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main = threading.get_ident()

        def interrupt():
            began = _native.signal_checks()
            while _native.signal_checks() < began + 2 and sys._current_frames()[main].f_code.co_name != "wait":
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        try:
            with batchweave.open(sys.argv[1], create=True, durable=False) as stream:
                with stream.producer("source") as producer:
                    for step in range(6):
                        producer.publish([[{{"ids": [step]}}]])
                stream.seal()
                for path in pathlib.Path(stream.url).glob("*/data/**/*"):
                    if path.is_file():
                        path.unlink()
                        os.mkfifo(path)  # Nobody writes to it: opening it waits for ever.
                with stream.consumer() as consumer:
                    "torch" in {read!r} and batchweave.torch
                    threading.Thread(target=interrupt, daemon=True).start()
                    {read}
        except KeyboardInterrupt:
            print("interrupted")
        """,
        url,
    )
    assert printed == "interrupted\n"


# Readers of steps ahead are stuck for ever, and the loop that they read for was left.
def test_an_interpreter_ends_though_reads_ahead_hang(url, run_python):
    printed = run_python(
        """
        import os, pathlib, sys, batchweave, batchweave.torch
        stream = batchweave.open(sys.argv[1], create=True, durable=False)
        with stream.producer("source") as producer:
            for step in range(20):
                producer.publish([[{"ids": [step]}]])
        stream.seal()
        items = iter(batchweave.torch.StreamingDataLoader(stream, dp_rank=0, dp_size=1, shuffle_seed=1))
        next(items)
        for path in pathlib.Path(stream.url).glob("*/data/**/*"):
            if path.is_file():
                path.unlink()
                os.mkfifo(path)  # Nobody writes to it: opening it waits for ever.
        next(items)  # It was read before; another read begins.
        print("left")
        """,
        url,
    )
    assert printed == "left\n"


BLOCKING = {
    Stream: {
        "producer", "consumer", "write_part", "create_group", "open_group", "seal", "quarantine", "lift_quarantine", "info",
        "step_info", "close",
    },
    Producer: {"publish", "publish_parts", "flush", "finish", "close"},
    Consumer: {"next", "close"},
    Group: {"checkpoint", "release", "report_progress", "close"},
}  # fmt: skip
NEVER_WAITS = {"next_ticket", "drop_tickets", "stats", "batch"}


def test_no_method_is_left_out():
    for kind, blocking in BLOCKING.items():
        public = {name for name, member in vars(kind).items() if inspect.isfunction(member) and not name.startswith("_")}
        assert public - NEVER_WAITS == blocking


def test_every_call_that_may_wait_looks_for_signals(url):
    counted = {kind: set() for kind in BLOCKING}

    def call(handle, name, *arguments, **options):
        before = _native.blocking_calls()
        result = getattr(handle, name)(*arguments, **options)
        if _native.blocking_calls() > before:
            counted[type(handle)].add(name)
        return result

    before = _native.blocking_calls()
    stream = batchweave.open(url, create=True, durable=False)
    assert _native.blocking_calls() > before
    producer, consumer = call(stream, "producer", "source"), call(stream, "consumer")
    call(producer, "publish", [[b"a"]])
    call(producer, "flush")
    ticket = producer.next_ticket(dp=1)
    receipt = call(stream, "write_part", ticket, [[b"b"]], dp=range(1))
    assert isinstance(receipt, PartReceipt)
    call(producer, "publish_parts", [receipt])
    call(producer, "finish")
    call(stream, "create_group", "train")
    group = call(stream, "open_group", "train")
    for name in ("one", "two"):
        call(group, "checkpoint", name, step=0)
    call(group, "release", "one")
    call(group, "report_progress", 0)
    call(stream, "quarantine", range(1, 2), "bad")
    call(stream, "lift_quarantine", range(1, 2))
    call(stream, "info")
    call(stream, "step_info", 0)
    call(stream, "seal")
    call(consumer, "next")
    unbuffered = stream.consumer(prefetch_steps=0)
    before = _native.blocking_calls()
    assert unbuffered.next().step == 0
    assert _native.blocking_calls() > before
    for handle in (group, consumer, producer, stream):
        call(handle, "close")
    assert counted == BLOCKING


def test_a_read_that_was_interrupted_is_not_lost(url, run_python):
    printed = run_python(
        """
        import os, signal, sys, threading, time, batchweave
        from batchweave import _native
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stream = batchweave.open(sys.argv[1], create=True, durable=False)
        consumer = stream.consumer(prefetch_steps=0)

        def interrupt():
            began = _native.signal_checks()
            while _native.signal_checks() < began + 2:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        try:
            consumer.next()
        except KeyboardInterrupt:
            pass
        with stream.producer("source") as producer:
            for step in range(3):
                producer.publish([[b"%d" % step]])
        # The call that was left alone may have read step 0 by now: whoever asks next gets it.
        for step in range(3):
            assert consumer.position == step
            assert bytes(consumer.next()[0]) == b"%d" % step
        print("all", consumer.position)
        """,
        url,
    )
    assert printed == "all 3\n"
