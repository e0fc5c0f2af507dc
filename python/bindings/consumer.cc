#include "batchweave/consumer/consumer.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "python/bindings/bind.h"
#include "python/bindings/buffers.h"
#include "python/bindings/durations.h"
#include "python/bindings/handle.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/opened.h"

namespace batchweave::python {
namespace {

namespace nb = nanobind;

using ConsumerHandle = Handle<OpenedConsumer>;

// Shared: by the batch and each of its slices, so that the memory goes back when the last view goes.
struct ReceivedBatch {
  std::shared_ptr<RankBatch> batch;
};

struct ReceivedSlice {
  std::shared_ptr<RankBatch> batch;
  size_t index;
  const Slice& slice() const { return batch->slices()[index]; }
};

// The buffer protocol: memoryview(slice), and whatever else takes memory. Python's views keep the slice alive, and that the
// batch. It may be written: nobody else reads it, and it was verified before.
int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  const ByteView bytes = nb::inst_ptr<ReceivedSlice>(self)->slice().bytes;
  return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(bytes.data()), static_cast<Py_ssize_t>(bytes.size()), 0,
                           flags);
}

PyType_Slot kBufferSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)}, {0, nullptr}};

using Read = Result<std::optional<RankBatch>>;

// The step is fetched by threads: waits for it in pieces, so that signals are seen.
Read NextFetched(const std::shared_ptr<OpenedConsumer>& opened, TimePoint limit) {
  ++blocking_calls;
  Clock& clock = opened->on->env->env().clock;
  for (;;) {
    Read read = [&] {
      const nb::gil_scoped_release release;
      return opened->consumer.Next(std::min(limit, After(clock.Now(), kSignalInterval)));
    }();
    if (!FailedWith(read, ErrorCode::kStalled) || clock.Now() >= limit) return read;
    CheckSignals();
  }
}

// The call reads the step itself.
Read NextRead(const std::shared_ptr<OpenedConsumer>& opened, TimePoint limit) {
  RunBlocking([opened, limit] {
    const std::lock_guard lock(opened->reading);
    if (!opened->read) opened->read = opened->consumer.Next(limit);
    return true;
  });
  const std::lock_guard lock(opened->reading);
  Read read = *std::move(opened->read);
  opened->read.reset();
  return read;
}

// None at the end of a sealed stream.
nb::object Next(const ConsumerHandle& handle, nb::handle timeout) {
  const std::shared_ptr<OpenedConsumer> opened = handle.Get();
  Clock& clock = opened->on->env->env().clock;
  const TimePoint limit = std::min(DeadlineOf(clock, timeout), After(clock.Now(), opened->options.stall_after));
  Read read = opened->options.prefetch_steps_max > 0 ? NextFetched(opened, limit) : NextRead(opened, limit);
  std::optional<RankBatch> batch = Unwrap(std::move(read));
  opened->position = opened->consumer.position();
  if (!batch) return nb::none();
  return nb::cast(ReceivedBatch{MakeShared<RankBatch>(*std::move(batch))});
}

nb::dict Stats(const ConsumerHandle& handle) {
  const ConsumerStats stats = handle.Get()->consumer.stats();
  nb::dict all;
  all["steps"] = stats.steps;
  all["delivered_bytes"] = stats.delivered_bytes;
  all["payload_gets"] = stats.payload_gets;
  all["payload_bytes"] = stats.payload_bytes;
  all["manifest_reads"] = stats.manifest_reads;
  all["retries"] = stats.retries;
  all["waited_for_commit"] = ToSeconds(stats.waited_for_commit);
  all["waited_for_fetch"] = ToSeconds(stats.waited_for_fetch);
  all["buffered_bytes"] = stats.buffered_bytes;
  all["newest_known"] = stats.newest_known.value;
  return all;
}

// Wakes a call that waits in another thread.
void Close(ConsumerHandle& handle, nb::handle patience) {
  if (handle.is_open()) {
    RunBlockingFor(PatienceOf(patience), [opened = handle.Take()] {
      opened->consumer.Close();
      return true;
    });
  }
  handle.Release();
}

nb::list Slices(const ReceivedBatch& received) {
  nb::list slices;
  for (size_t i = 0; i < received.batch->slices().size(); ++i) slices.append(ReceivedSlice{received.batch, i});
  return slices;
}

}  // namespace

void BindConsumer(nb::module_& module) {
  nb::class_<ReceivedSlice>(module, "Slice", nb::type_slots(kBufferSlots))
      .def_prop_ro("dp", [](const ReceivedSlice& received) { return received.slice().at.dp; })
      .def_prop_ro("cp", [](const ReceivedSlice& received) { return received.slice().at.cp; })
      .def_prop_ro("size_bytes", [](const ReceivedSlice& received) { return received.slice().bytes.size(); });
  nb::class_<ReceivedBatch>(module, "RankBatch")
      .def_prop_ro("step", [](const ReceivedBatch& received) { return received.batch->step().value; })
      .def_prop_ro("producer", [](const ReceivedBatch& received) { return received.batch->entry().producer; })
      .def_prop_ro("seq", [](const ReceivedBatch& received) { return received.batch->entry().seq; })
      .def_prop_ro("dp", [](const ReceivedBatch& received) { return received.batch->entry().grid.dp; })
      .def_prop_ro("cp", [](const ReceivedBatch& received) { return received.batch->entry().grid.cp; })
      .def_prop_ro("samples", [](const ReceivedBatch& received) { return received.batch->entry().samples; })
      .def_prop_ro("content_type", [](const ReceivedBatch& received) { return received.batch->entry().content_type; })
      .def_prop_ro("schema_hash", [](const ReceivedBatch& received) { return received.batch->entry().schema_hash; })
      .def_prop_ro("cursor", [](const ReceivedBatch& received) { return ToPython(received.batch->entry().cursor); })
      .def_prop_ro("metadata", [](const ReceivedBatch& received) { return ToPython(received.batch->entry().metadata); })
      .def("slices", &Slices);
  nb::class_<ConsumerHandle>(module, "Consumer")
      .def_prop_ro("position", [](const ConsumerHandle& handle) { return handle.Get()->position.value; })
      .def("next", &Next, nb::arg().none())
      .def("stats", &Stats)
      .def("close", &Close, nb::arg("patience") = nb::none())
      .def_prop_ro("is_open", &ConsumerHandle::is_open);
}

}  // namespace batchweave::python
