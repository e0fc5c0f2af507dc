"""Publishing and reading, groups and quarantine: what the handles do, and which exception says what."""

import pickle
import threading

import numpy as np
import pytest

import batchweave
from batchweave import errors


def texts(batch):
    return [bytes(one).decode() for one in batch]


def test_what_is_published_is_read_in_order(stream):
    with stream.producer("source") as producer:
        assert producer.cursor is None
        assert producer.publish([[b"a"], [b"b"]], cursor=b"1", samples=2, metadata={"mix": {"web": 0.7}}) == 1
        assert producer.publish([[b"c"], [b"d"]], cursor=b"2", samples=2) == 2
    stream.seal()

    with stream.consumer(dp_rank=1, dp_size=2) as consumer:
        first, second = list(consumer)
    assert (texts(first), texts(second)) == (["b"], ["d"])
    assert (first.step, first.producer, first.seq, first.grid, first.samples) == (0, "source", 1, (2, 1), 2)
    assert (first.cursor, first.metadata, second.metadata) == (b"1", {"mix": {"web": 0.7}}, {})
    assert (first.content_type, first.schema_hash) == ("application/octet-stream", 0)


def test_a_rank_of_a_smaller_mesh_reads_several_slices(stream, publish):
    publish(1, dp=4, cp=2)
    with stream.consumer(dp_rank=1, dp_size=2, cp_rank=0, cp_size=2) as consumer:
        batch = consumer.next()
    assert texts(batch) == ["0:2:0", "0:3:0"]
    assert [(one.dp, one.cp) for one in batch] == [(2, 0), (3, 0)]
    assert len(batch) == 2
    assert bytes(batch[1]) == b"0:3:0"
    assert len(batch[1]) == 5


# Covers C4.
def test_a_producer_goes_on_at_its_committed_cursor(stream):
    with stream.producer("source") as producer:
        producer.publish([[b"a"]], cursor=b"one")
    with pytest.raises(RuntimeError, match="on purpose"), stream.producer("source") as producer:
        assert (producer.cursor, producer.committed_seq) == (b"one", 1)
        producer.publish([[b"b"]], cursor=b"two")
        producer.flush()
        raise RuntimeError("on purpose")
    with stream.producer("source") as producer:
        assert (producer.cursor, producer.committed_seq) == (b"two", 2)


def test_what_an_exception_interrupts_is_not_waited_for(stream, monkeypatch):
    with pytest.raises(RuntimeError), stream.producer("source") as producer:
        monkeypatch.setattr(producer, "flush", lambda: pytest.fail("it waits"))
        producer.publish([[b"a"]])
        raise RuntimeError
    with pytest.raises(errors.Closed):
        producer.stats()


def test_a_batch_is_filled_piece_by_piece_and_published_at_the_end_of_the_block(stream):
    with stream.producer("source") as producer:
        with producer.batch(dp=1, cp=2, cursor=b"1") as batch:
            batch[0, 1] = b"right"
            batch[0, 0] = bytearray(b"left")
        with pytest.raises(RuntimeError), producer.batch(dp=1, cursor=b"2") as batch:
            batch[0, 0] = b"never"
            raise RuntimeError
        producer.flush()
        assert producer.committed_seq == 1
        assert producer.stats().committed == 1
    with stream.consumer() as consumer:
        assert texts(consumer.next()) == ["left", "right"]


def test_a_newer_holder_of_a_name_fences_the_older(stream, url):
    old = stream.producer("source")
    with batchweave.open(url).producer("source"), pytest.raises(errors.Fenced, match="source"):
        old.publish([[b"a"]])
        old.flush()
    old.close()


def test_what_has_finished_is_opened_again_only_when_asked(stream):
    with stream.producer("source") as producer:
        producer.publish([[b"a"]], cursor=b"end")
        producer.finish()
    with pytest.raises(errors.AlreadyExists, match="source"):
        stream.producer("source")
    with stream.producer("source", reopen=True) as producer:
        assert producer.cursor == b"end"


def test_a_sealed_stream_ends_for_all(stream, publish):
    publish(3)
    assert stream.seal() == 3
    with stream.consumer() as consumer:
        assert [batch.step for batch in consumer] == [0, 1, 2]
        assert consumer.next() is None
        assert consumer.position == 3
        assert consumer.stats().steps == 3
    with pytest.raises(errors.StreamSealed):
        stream.producer("late")


def test_a_wait_for_a_step_is_a_timeout_that_says_what_is_awaited(stream, publish):
    publish(1)
    with stream.consumer(position=1) as consumer:
        with pytest.raises(TimeoutError, match="waiting for step 1; newest is 0"):
            consumer.next(timeout=0.05)
        publish(1)
        assert texts(consumer.next(timeout=30)) == ["1:0:0"]


# Covers G9.
def test_a_step_in_the_middle_costs_no_more_than_the_first(stream, publish):
    publish(300)
    costs = []
    for position in (0, 150, 299):
        with stream.consumer(position=position, prefetch_steps=0) as consumer:
            assert consumer.next().step == position
            costs.append((consumer.stats().manifest_reads, consumer.stats().payload_gets))
    assert costs == [costs[0]] * 3
    assert costs[0][1] == 1


def test_what_is_committed_later_than_wanted_is_counted(stream):
    for name, max_staleness, late in (("hasty", 1e-9, 1), ("patient", 3600.0, 0)):
        with stream.producer(name, max_staleness=max_staleness) as producer:
            producer.publish([[b"x"]])
            producer.flush()
            stats = producer.stats()
            assert (stats.late, stats.staleness_max > 0) == (late, True)


# Covers G8.
def test_a_stall_is_told_after_stall_after(stream):
    with stream.consumer(stall_after=0.05) as consumer, pytest.raises(errors.StreamStalled, match="nothing is committed"):
        next(consumer)


def test_a_mesh_that_does_not_divide_the_grid_is_a_value_error(stream, publish):
    publish(1, dp=4)
    with pytest.raises(errors.MeshMismatch, match="dp=3") as caught:
        stream.consumer(dp_rank=0, dp_size=3)
    assert isinstance(caught.value, ValueError)
    assert caught.value.code == "mesh_mismatch"


def test_a_group_holds_what_its_checkpoints_need(stream, publish):
    publish(10)
    with stream.open_group("train", start=0, create=True) as group:
        for step in (2, 4, 6):
            group.checkpoint(f"at-{step}", step=step, keep_last=2)
        group.report_progress(7)
        info = stream.info()
        assert (info.first_step, info.next_step, info.sealed) == (4, 10, False)
        assert info.groups["train"].checkpoints == {"at-4": 4, "at-6": 6}
        assert info.groups["train"].session == group.session
        group.release("at-4")
        with pytest.raises(errors.StepTrimmed):
            stream.consumer(position=0)
        with stream.consumer(position=6, group="train", session=group.session) as consumer:
            assert consumer.next().step == 6


# Covers M1.
def test_a_newer_session_fences_the_older(stream, publish):
    publish(2)
    old = stream.open_group("train", create=True)
    stream.open_group("train").close()
    with pytest.raises(errors.Fenced):
        old.checkpoint("late", step=1)
    with pytest.raises(errors.Fenced):
        stream.consumer(group="train", session=old.session)


# Covers M13, I11.
def test_quarantine_begins_with_the_next_session_for_all_its_ranks(stream, publish):
    publish(6, dp=2)
    stream.seal()
    before = stream.open_group("train", create=True).session
    stream.quarantine(range(2, 4), "bad shard")
    assert stream.info().quarantined == [(2, 4, "bad shard")]

    def steps(session, rank):
        with stream.consumer(group="train", session=session, dp_rank=rank, dp_size=2) as consumer:
            return [batch.step for batch in consumer]

    # Of the session before every step is read, also by a rank that opens late.
    reopened = stream.open_group("train").session
    assert steps(reopened, 0) == steps(reopened, 1) == [0, 1, 4, 5]
    stream.lift_quarantine(range(2, 4))
    assert steps(reopened, 0) == steps(reopened, 1) == [0, 1, 4, 5]
    lifted = stream.open_group("train").session
    assert steps(lifted, 0) == steps(lifted, 1) == [0, 1, 2, 3, 4, 5]
    assert before < reopened < lifted


def test_names_positions_and_ranges_that_are_none_are_refused(stream, publish):
    publish(1)
    for call, message in [
        (lambda: stream.producer("a b"), "a b"),
        (lambda: stream.producer(3), "name is a str: found 3"),
        (lambda: stream.producer("x", upload_threads=0), "upload_threads is from 1 to 64: found=0"),
        (lambda: stream.producer("x", upload_threads=65), "upload_threads is from 1 to 64: found=65"),
        (lambda: stream.producer("x", upload_threads=2**32), "upload_threads is a whole number from 0 to 4294967295"),
        (lambda: stream.producer("x", stall_after=0), "stall_after is above 0"),
        (lambda: stream.producer("x", max_staleness=-1), "max_staleness is a number of seconds"),
        (lambda: stream.consumer(prefetch_threads=0), "prefetch_threads is from 1 to 64: found=0"),
        (lambda: stream.consumer(prefetch_threads=65), "prefetch_threads is from 1 to 64: found=65"),
        (lambda: stream.producer("x", pending_bytes=-1), "pending_bytes.*found -1"),
        (lambda: stream.consumer(position=-1), "position.*found -1"),
        (lambda: stream.consumer(position=True), "position.*found True"),
        (lambda: stream.consumer(position=1.5), "position.*found 1.5"),
        (lambda: stream.consumer(dp_rank=0, dp_size=2**40), "dp_size.*4294967295"),
        (lambda: stream.consumer(group=None), "group is a str"),
        (lambda: stream.consumer(stall_after="a"), "stall_after is a number of seconds.*'a'"),
        (lambda: stream.consumer(stall_after=float("nan")), "stall_after.*nan"),
        (lambda: stream.consumer(stall_after=0), "stall_after is above 0"),
        (lambda: stream.create_group("x", start=-1), "start.*found -1"),
        (lambda: stream.quarantine(range(-1, 1), "x"), "first of steps.*found -1"),
        (lambda: batchweave.open(stream.url, storage_options={"secret": 7}), "dict of str to str$"),
        (lambda: stream.consumer(dp_rank=2, dp_size=2), "dp_rank=2"),
        (lambda: stream.consumer(prefetch_steps=10**9), "prefetch_steps"),
        (lambda: stream.consumer(stall_after=-1.0), "0 or more"),
        (lambda: stream.quarantine((0, 1), "x"), "range"),
        (lambda: stream.quarantine(range(0, 4, 2), "x"), "range"),
        (lambda: stream.quarantine(range(1), ""), "reason"),
        (lambda: stream.open_group("train", start=7, create=True), "7"),
        (lambda: batchweave.open("ftp://host/run"), "ftp://host"),
        (lambda: batchweave.open("s3://bucket/run?secret_access_key=x"), "secret"),
    ]:
        with pytest.raises(errors.InvalidArgument, match=message):
            call()


def test_numbers_of_numpy_are_numbers(stream, publish):
    publish(np.int64(2))
    with stream.consumer(position=np.int64(1)) as consumer:
        assert consumer.next(timeout=np.float64(5)).step == 1


def test_what_is_not_there_is_not_found(url, stream):
    for call in (
        lambda: batchweave.open(f"{url}-other"),
        lambda: batchweave.open("/no/such/folder/run"),
        lambda: stream.open_group("none"),
        lambda: stream.lift_quarantine(range(1)),
    ):
        with pytest.raises(errors.NotFound):
            call()


def test_a_closed_handle_says_so(url):
    stream = batchweave.open(url, create=True, durable=False)
    producer, consumer, group = stream.producer("source"), stream.consumer(), stream.open_group("train", create=True)
    for handle in (producer, consumer, group, stream):
        handle.close()
        handle.close()
    for call in (lambda: producer.publish([[b"a"]]), consumer.next, lambda: group.checkpoint("a", step=0), stream.info):
        with pytest.raises(errors.Closed):
            call()


def test_closing_wakes_who_waits_in_another_thread(stream):
    consumer = stream.consumer()
    caught = []

    def wait():
        try:
            consumer.next()
        except errors.Closed as error:
            caught.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    consumer.close()
    waiting.join(30)
    assert len(caught) == 1


def test_what_was_opened_on_a_stream_outlives_it(url):
    with batchweave.open(url, create=True, durable=False) as stream:
        producer, consumer = stream.producer("source"), stream.consumer()
    producer.publish([[b"a"]])
    producer.flush()
    assert texts(consumer.next()) == ["a"]
    producer.close()
    consumer.close()


def test_a_pickled_stream_is_opened_anew_without_its_secrets(stream, url, publish):
    publish(1)
    copy = pickle.loads(pickle.dumps(stream))
    assert (copy.id, copy.name, copy.url) == (stream.id, "run", url)
    assert copy.info() == stream.info()

    options = dict.fromkeys(("secret_access_key", "session_token", "account_key", "sas_token"), "hidden")
    options |= dict.fromkeys(("aws_sse_kms_key_id", "sse_bucket_key_enabled", "token_file", "region"), "shown")
    travels = pickle.loads(pickle.dumps(batchweave.Stream(url, options, True))).__getstate__()["storage_options"]
    assert travels == {name: value for name, value in options.items() if value == "shown"}


def test_what_is_of_one_process_is_not_pickled(stream, publish):
    publish(1)
    with stream.consumer() as consumer, stream.producer("source") as producer, stream.open_group("g", create=True) as group:
        batch = consumer.next()
        for handle, message in (
            (consumer, "a Consumer .* pickle its stream"),
            (producer, "a Producer .* pickle its stream"),
            (group, "a Group .* pickle its stream"),
            (batch, "a RankBatch .* tensors of its slices"),
            (batch[0], "a Slice .* pickle its bytes"),
        ):
            with pytest.raises(TypeError, match=message):
                pickle.dumps(handle)


def test_a_pickled_stream_is_refused_where_another_has_its_name(stream, tmp_path, publish):
    pickled = pickle.dumps(stream)
    (tmp_path / "run").rename(tmp_path / "elsewhere")
    with batchweave.open(stream.url, create=True, durable=False), pytest.raises(errors.NotFound, match="another stream"):
        pickle.loads(pickled).info()


def test_the_classes_are_those_of_the_codes(stream):
    assert set(errors.BY_CODE) == {
        "invalid_argument", "not_found", "already_exists", "unavailable", "unknown_outcome", "denied", "corrupt", "trimmed",
        "fenced", "stalled", "mesh_mismatch", "sealed", "incompatible", "unsuitable_store", "closed",
    }  # fmt: skip
    assert all(issubclass(kind, errors.BatchweaveError) for kind in errors.BY_CODE.values())
