"""Memory, signals, forks and ends: what a process may do at the worst moment."""

import gc
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import batchweave
from batchweave import errors

SLICE = 1 << 20


def publish_large(stream, steps):
    with stream.producer("source") as producer:
        for step in range(steps):
            producer.publish([[{"data": np.full(SLICE, step, np.uint8)}]])


def address(view):
    return np.asarray(view).ctypes.data


# The memory is used again only when no view is left, and then at once.
def test_memory_goes_back_when_the_last_view_goes(stream):
    publish_large(stream, 8)
    with stream.consumer(prefetch_steps=0) as consumer:
        held = consumer.next()[0].numpy()["data"][10:20]
        seen = set()
        for step in range(1, 8):
            data = consumer.next()[0].numpy()["data"]
            assert (int(data[0]), int(data[-1])) == (step, step)
            seen.add(address(data))
            del data
        assert held.tolist() == [0] * 10
        assert len(seen) == 1
        assert not any(abs(address(held) - other) < SLICE for other in seen)


def test_views_outlive_batch_consumer_and_stream(url):
    with batchweave.open(url, create=True, durable=False) as stream:
        publish_large(stream, 2)
        with stream.consumer() as consumer:
            view = memoryview(consumer.next()[0].data)[-100:]
            last = consumer.next()
    del consumer, stream
    gc.collect()
    assert bytes(view) == b"\0" * 100
    assert int(last[0].numpy()["data"][0]) == 1


# Covers G7.
def test_memory_does_not_grow_with_steps(stream):
    publish_large(stream, 200)

    def resident_mib():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    with stream.consumer(prefetch_steps=2) as consumer:
        for _ in range(50):
            consumer.next()[0].numpy()
        before = resident_mib()
        for _ in range(150):
            consumer.next()[0].numpy()
    assert resident_mib() - before < 40  # 150 MiB went through.


def test_bytes_are_given_up_once_they_are_published(stream):
    data = os.urandom(SLICE)
    references = sys.getrefcount(data)
    with stream.producer("source") as producer:
        producer.publish([[data], [data]])
        producer.flush()
    # The thread that has uploaded them may still be at it; the next call then gives up what that let go of.
    with stream.producer("other") as other:
        while sys.getrefcount(data) != references:
            other.flush()


def test_other_threads_run_while_a_call_waits(stream):
    ran = threading.Event()
    threading.Timer(0.01, ran.set).start()
    with stream.consumer() as consumer, pytest.raises(errors.StreamStalled):
        consumer.next(timeout=0.5)
    assert ran.is_set()


# Covers G5.
def test_a_forked_child_opens_its_own(url, run_python):
    printed = run_python(
        """
        import os, sys, batchweave
        stream = batchweave.open(sys.argv[1], create=True, durable=False)
        producer = stream.producer("source")
        for step in range(4):
            producer.publish([[b"%d" % step]])
        producer.flush()
        consumer = stream.consumer()
        held = consumer.next()  # Threads run by now, of producer and consumer.
        child = os.fork()
        if child == 0:
            for use in (consumer.next, lambda: producer.publish([[b"no"]]), lambda: stream.info() and consumer.next()):
                try:
                    use()
                    os._exit(3)
                except batchweave.errors.Closed as error:
                    assert "fork" in str(error)
            producer.close(), consumer.close()
            assert stream.info().next_step == 4
            with stream.consumer(position=2) as own:
                assert bytes(own.next()[0]) == b"2"
            with stream.producer("child") as own:
                own.publish([[b"child"]])
            assert bytes(held[0]) == b"0"
            del held
            sys.exit(0)  # With all that Python does at an end.
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0, status
        assert [bytes(consumer.next()[0]) for _ in range(4)] == [b"1", b"2", b"3", b"child"]
        producer.publish([[b"parent"]])
        producer.flush()
        print("done")
        """,
        url,
    )
    assert printed == "done\n"


# Covers G5.
def test_nothing_runs_before_the_first_step(url, run_python):
    printed = run_python(
        """
        import os, sys, time, batchweave
        before = set(os.listdir("/proc/self/task"))  # numpy has some.
        stream = batchweave.open(sys.argv[1], create=True, durable=False)
        producer, consumer, group = stream.producer("source"), stream.consumer(), stream.open_group("g", create=True)
        while set(os.listdir("/proc/self/task")) != before:
            time.sleep(0.01)  # What opened them is about to end.
        print("none")
        """,
        url,
    )
    assert printed == "none\n"


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "raise SystemExit(0)"])
def test_an_interpreter_may_end_with_work_in_flight(url, run_python, end):
    run_python(
        f"""
        import sys, threading, batchweave
        stream = batchweave.open(sys.argv[1], create=True)
        producer = stream.producer("source")
        for step in range(50):
            producer.publish([[bytes(1 << 20)], [bytearray(1 << 20)]])
        consumer = stream.consumer(dp_size=2)
        batches = iter(consumer)
        held = next(batches)
        views = [memoryview(one.data) for one in held]
        {end}
        """,
        url,
    )


def test_no_thread_outlives_the_interpreter(url, run_python):
    printed = run_python(
        """
        import atexit, os, sys, time
        import numpy
        before = set(os.listdir("/proc/self/task"))

        def left():
            return set(os.listdir("/proc/self/task")) - before

        def tell_last():
            deadline = time.monotonic() + 30  # The kernel lists a thread a moment longer than a join of it takes.
            while left() and time.monotonic() < deadline:
                time.sleep(0.001)
            print(left())

        atexit.register(tell_last)
        import batchweave
        stream = batchweave.open(sys.argv[1], create=True, durable=False)
        producer, consumer = stream.producer("source"), stream.consumer()
        producer.publish([[b"a"]])
        next(consumer)
        assert left()
        """,
        url,
    )
    assert printed == "set()\n"


# Covers G2.
def test_an_iterator_left_half_way_is_gone_on_with(stream, publish):
    publish(10)
    with stream.consumer() as consumer:
        for batch in consumer:
            if batch.step == 3:
                break
        assert consumer.position == 4  # Though more is fetched ahead.
        assert next(iter(consumer)).step == 4
        position = consumer.position
    with stream.consumer(position=position) as consumer:
        assert consumer.next().step == 5


def test_signals_that_are_handled_do_not_end_a_wait(stream, publish):
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(time.monotonic()))
    try:
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        threading.Timer(0.4, lambda: publish(1)).start()
        with stream.consumer() as consumer:
            assert consumer.next(timeout=30).step == 0
        assert len(seen) == 1
    finally:
        signal.signal(signal.SIGUSR1, before)
