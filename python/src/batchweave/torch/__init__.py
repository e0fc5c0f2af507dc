"""Streams as torch training jobs read them.

>>> loader = StreamingDataLoader(stream, group="pretrain", device_mesh=mesh)
>>> loader.load_state_dict(state)  # from the job's own checkpoint; the same on every rank
>>> for step, batch in loader:
...     train(batch)
"""

from batchweave._needs import needs

with needs("torch", "2.6"):
    from batchweave.torch._collate import collate
    from batchweave.torch._dataset import StreamingDataset
    from batchweave.torch._loader import StreamingDataLoader
    from batchweave.torch._place import Place

__all__ = ["Place", "StreamingDataLoader", "StreamingDataset", "collate"]
