"""BatchWeave: an object-store-native data plane that feeds distributed training.

>>> stream = batchweave.open("/data/runs/llm-7b", create=True)
>>> with stream.producer("tokenizer-03") as producer:
...     producer.publish([[{"ids": ids}]], cursor=b"17")
>>> for batch in stream.consumer(dp_rank=0, dp_size=1):
...     train(batch[0].torch())

``batchweave.torch`` and ``batchweave.jax`` are what training loops iterate; they are imported when first used.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from batchweave import errors
from batchweave._batch import GlobalBatch
from batchweave._consumer import Consumer, ConsumerStats, RankBatch, Slice
from batchweave._group import Group
from batchweave._native import __version__
from batchweave._parts import PartReceipt, PartTicket
from batchweave._producer import Producer, ProducerStats
from batchweave._stream import GroupInfo, StepInfo, Stream, StreamInfo, open
from batchweave.errors import BatchweaveError
from batchweave.safetensors import schema_hash

__all__ = [
    "BatchweaveError",
    "Consumer",
    "ConsumerStats",
    "GlobalBatch",
    "Group",
    "GroupInfo",
    "PartReceipt",
    "PartTicket",
    "Producer",
    "ProducerStats",
    "RankBatch",
    "Slice",
    "StepInfo",
    "Stream",
    "StreamInfo",
    "__version__",
    "errors",
    "open",
    "schema_hash",
]


def __getattr__(name: str) -> ModuleType:
    if name in ("torch", "jax"):
        return importlib.import_module(f"batchweave.{name}")
    raise AttributeError(f"module 'batchweave' has no attribute {name!r}")
