"""Batches in parts: workers anywhere write them, the producer publishes the receipts, and every rank reads the whole."""

import pickle

import numpy as np
import pytest

import batchweave
from batchweave import GlobalBatch, PartReceipt, PartTicket, errors


def ids(dp, cp=0):
    return {"ids": np.arange(4, dtype=np.int32) + 100 * dp + 10 * cp}


@pytest.fixture
def producer(stream):
    with stream.producer("source") as opened:
        yield opened


def write(stream, ticket, dp, cp=None, **options):
    """What a worker does: it has the ticket's bytes, and gives back those of the receipt."""
    ticket = PartTicket.from_bytes(bytes(ticket))
    slices = [[ids(row, column) for column in cp or range(ticket.grid[1])] for row in dp]
    return bytes(stream.write_part(ticket, slices, dp=dp, cp=cp, **options))


def receipts(*messages):
    return [PartReceipt.from_bytes(message) for message in messages]


def read(stream, position=0, **rank):
    with stream.consumer(position=position, **rank) as consumer:
        return consumer.next(timeout=30)


# Covers I10.
def test_parts_of_workers_are_one_batch_for_every_rank(stream, producer, run_python):
    ticket = producer.next_ticket(dp=4, cp=2, like=ids(0))
    script = """
        import sys, batchweave, numpy as np
        ticket = batchweave.PartTicket.from_bytes(bytes.fromhex(sys.argv[2]))
        slices = [[{"ids": np.arange(4, dtype=np.int32) + 100 * dp + 10 * cp} for cp in range(2)] for dp in (2, 3)]
        receipt = batchweave.open(sys.argv[1]).write_part(ticket, slices, dp=range(2, 4), provenance=b"another process")
        print(bytes(receipt).hex())
    """
    elsewhere = bytes.fromhex(run_python(script, stream.url, bytes(ticket).hex()).strip())
    parts = [elsewhere] + [
        write(stream, ticket, range(2), range(column, column + 1), provenance=b"here") for column in range(2)
    ]
    assert stream.info().next_step == 0
    assert producer.publish_parts(receipts(*parts), cursor=b"4", samples=8, metadata={"by": "parts"}) == 1
    producer.flush()

    for dp_size, cp_size in ((1, 1), (2, 1), (4, 2)):
        for dp_rank, cp_rank in np.ndindex(dp_size, cp_size):
            batch = read(stream, dp_rank=int(dp_rank), dp_size=dp_size, cp_rank=int(cp_rank), cp_size=cp_size)
            assert (batch.samples, batch.cursor, batch.metadata) == (8, b"4", {"by": "parts"})
            assert len(batch) == 8 // dp_size // cp_size
            for one in batch:
                assert one.numpy()["ids"].tolist() == ids(one.dp, one.cp)["ids"].tolist()
    told = stream.step_info(0)
    assert (told.producer, told.seq, told.grid, told.samples, told.cursor) == ("source", 1, (4, 2), 8, b"4")
    assert (told.content_type, told.schema_hash) == ("application/x-safetensors", batchweave.schema_hash(ids(0)))
    assert sorted(told.provenance) == [b"another process", b"here", b"here"]


def test_tickets_and_receipts_say_what_they_are(stream, producer):
    ticket = producer.next_ticket(dp=2, cp=1, content_type="text/plain")
    assert (ticket.producer, ticket.incarnation, ticket.seq) == ("source", producer.incarnation, 1)
    assert (ticket.grid, ticket.content_type, ticket.schema_hash) == ((2, 1), "text/plain", 0)
    receipt = stream.write_part(ticket, [[b"left"]], dp=range(1))
    assert (receipt.dp, receipt.cp, receipt.size_bytes, receipt.ticket) == (range(1), range(1), 4, ticket)
    for message in (ticket, receipt):
        again = pickle.loads(pickle.dumps(message))
        assert again == message
        assert hash(again) == hash(message)
        assert bytes(again) == bytes(message)
        assert "source" in repr(again)
        for damaged in (b"", bytes(message)[:-1], bytes(message)[:-1] + bytes([bytes(message)[-1] ^ 1])):
            with pytest.raises(errors.CorruptData):
                type(message).from_bytes(damaged)
    assert ticket != receipt
    assert producer.next_ticket(dp=2) != ticket
    producer.drop_tickets()


# Covers M4.
def test_a_lost_receipt_is_written_again(stream, producer):
    ticket = producer.next_ticket(dp=2, like=ids(0))
    write(stream, ticket, range(1))  # Its receipt is lost.
    again, other = write(stream, ticket, range(1)), write(stream, ticket, range(1, 2))
    with pytest.raises(errors.InvalidArgument, match="dp=1"):
        producer.publish_parts(receipts(again))
    assert producer.publish_parts(receipts(other, again)) == 1
    producer.flush()
    assert [one.numpy()["ids"][0] for one in read(stream)] == [0, 100]


def test_doubled_and_overlapping_receipts_are_refused(stream, producer):
    ticket = producer.next_ticket(dp=3, like=ids(0))
    left, right, wide = (write(stream, ticket, rows) for rows in (range(1), range(1, 3), range(2)))
    for wrong, message in [
        ((left, right, left), "twice"),
        ((left, wide, right), "two parts hold one slice: dp=0"),
        ((wide, wide), "twice"),
        ((), "dp=0"),
    ]:
        with pytest.raises(errors.InvalidArgument, match=message):
            producer.publish_parts(receipts(*wrong))
    assert producer.publish_parts(receipts(left, right)) == 1  # The ticket stayed outstanding.
    with pytest.raises(errors.InvalidArgument, match="ticket"):
        producer.publish_parts(receipts(left, right))


# Covers B2, M4.
def test_a_zombie_worker_and_a_fenced_producer_harm_nothing(stream):
    dead = stream.producer("source")
    dead.publish([[b"first"]], cursor=b"1")
    dead.flush()
    ticket = dead.next_ticket(dp=2, like=ids(0))
    late = write(stream, ticket, range(1))
    with stream.producer("source") as successor:
        fresh = successor.next_ticket(dp=2, like=ids(0))
        assert (fresh.seq, fresh.incarnation) == (ticket.seq, successor.incarnation)
        own = write(stream, fresh, range(1, 2))
        with pytest.raises(errors.InvalidArgument, match="incarnation"):
            successor.publish_parts(receipts(late, own))
        successor.publish_parts(receipts(write(stream, fresh, range(1)), own), cursor=b"2")
        successor.flush()
    with pytest.raises(errors.Fenced, match="source"):
        dead.publish_parts(receipts(late, write(stream, ticket, range(1, 2))), cursor=b"zombie")
        dead.flush()
    dead.close()
    info = stream.info()
    assert info.next_step == 2
    assert stream.step_info(1).cursor == b"2"
    write(stream, ticket, range(2))  # A worker that slept through all of it: an object that nothing names.
    assert stream.info() == info


def test_tickets_keep_their_order_and_hold_up_other_batches(stream, producer):
    first, second = producer.next_ticket(dp=1, like=ids(0)), producer.next_ticket(dp=1, like=ids(0))
    assert (first.seq, second.seq) == (1, 2)
    with pytest.raises(errors.InvalidArgument, match="ticket"):
        producer.publish([[b"plain"]])
    with pytest.raises(errors.InvalidArgument, match="expected"):
        producer.publish_parts(receipts(write(stream, second, range(1))))
    for ticket in (first, second):
        producer.publish_parts(receipts(write(stream, ticket, range(1))))
    dropped = write(stream, producer.next_ticket(dp=1, like=ids(0)), range(1))
    producer.drop_tickets()
    producer.next_ticket(dp=1, like=ids(0))
    with pytest.raises(errors.InvalidArgument, match="ticket"):
        producer.publish_parts(receipts(dropped))
    producer.drop_tickets()
    assert producer.publish([[b"plain"]]) == 3


def test_what_is_no_part_is_refused(stream, producer, tmp_path):
    ticket = producer.next_ticket(dp=4, cp=2, like=ids(0))
    row = [ids(0), ids(0, 1)]
    wrong_kind = {"ids": np.zeros(4, np.int64)}
    other = batchweave.open(tmp_path / "other", create=True, durable=False)
    with other, pytest.raises(errors.InvalidArgument, match="stream"):
        other.write_part(ticket, [row], dp=range(1))
    for call, kind, message in [
        (lambda: stream.write_part(bytes(ticket), [row], dp=range(1)), errors.InvalidArgument, "PartTicket.from_bytes"),
        (lambda: stream.write_part(ticket, [row], dp=range(2)), errors.InvalidArgument, "2 x 2 slices: found 1 x 2"),
        (lambda: stream.write_part(ticket, [row], dp=range(4, 5)), errors.InvalidArgument, "outside the grid"),
        (lambda: stream.write_part(ticket, [row], dp=range(0)), errors.InvalidArgument, "outside the grid, or empty"),
        (lambda: stream.write_part(ticket, [row], dp=(0, 1)), errors.InvalidArgument, "dp are a range.*0, 1"),
        (lambda: stream.write_part(ticket, [row], dp=range(-1, 0)), errors.InvalidArgument, "first of dp.*found -1"),
        (lambda: stream.write_part(ticket, row, dp=range(1)), errors.InvalidArgument, "a list of dp lists"),
        (lambda: stream.write_part(ticket, [[b"a", b"b"]], dp=range(1)), errors.SchemaMismatch, "found bytes"),
        (lambda: stream.write_part(ticket, [[wrong_kind] * 2], dp=range(1)), errors.SchemaMismatch, "its ticket"),
        (lambda: stream.write_part(ticket, GlobalBatch(dp=1, cp=2), dp=range(1)), errors.InvalidArgument, "empty"),
        (lambda: stream.write_part(ticket, [row], dp=range(1), provenance="a"), errors.InvalidArgument, "provenance is bytes"),
        (
            lambda: stream.write_part(ticket, [row], dp=range(1), provenance=bytes((1 << 20) + 1)),
            errors.InvalidArgument,
            "provenance is too long",
        ),
        (lambda: producer.next_ticket(dp=0), errors.InvalidArgument, "dp is a whole number from 1"),
        (lambda: producer.next_ticket(dp=1, content_type="a\nb"), errors.InvalidArgument, "content type"),
        (lambda: producer.publish_parts([bytes(ticket)]), errors.InvalidArgument, "PartReceipt.from_bytes"),
        (lambda: stream.step_info(0), errors.NotFound, "no steps yet"),
        (lambda: stream.step_info(-1), errors.InvalidArgument, "found -1"),
    ]:
        with pytest.raises(kind, match=message):
            call()
    batch = GlobalBatch(dp=1, cp=2)
    batch[0, 1] = ids(0, 1)
    with pytest.raises(errors.InvalidArgument, match="dp=0 cp=0"):
        stream.write_part(ticket, batch, dp=range(1))


def test_provenance_of_a_batch_is_told_and_may_be_absent(stream, producer):
    producer.publish([[b"a"]], provenance=b"shard-7: 0-9", cursor=b"1", metadata={"mix": 1})
    producer.publish([[b"b"]])
    producer.flush()
    assert stream.step_info(0).provenance == [b"shard-7: 0-9"]
    assert stream.step_info(0).metadata_bytes == b'{"mix":1}'
    assert stream.step_info(1).provenance == [b""]
