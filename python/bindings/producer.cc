#include "batchweave/producer/producer.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <utility>

#include "python/bindings/batch.h"
#include "python/bindings/bind.h"
#include "python/bindings/buffers.h"
#include "python/bindings/durations.h"
#include "python/bindings/handle.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/opened.h"
#include "python/bindings/parts.h"

namespace batchweave::python {
namespace {

namespace nb = nanobind;

using ProducerHandle = Handle<OpenedProducer>;

uint64_t Publish(ProducerHandle& handle, FilledBatch& filled, nb::handle cursor, nb::handle cursor_before,
                 uint64_t samples, nb::handle metadata, nb::handle provenance) {
  const std::shared_ptr<OpenedProducer> opened = handle.Get();
  if (!filled.batch) Raise({ErrorCode::kInvalidArgument, "the batch was published already: fill another one"});
  PublishOptions options{
      .cursor = CopyOf(cursor), .samples = samples, .metadata = CopyOf(metadata), .provenance = CopyOf(provenance)};
  if (!cursor_before.is_none()) options.cursor_before = CopyOf(cursor_before);
  ReleaseDropped();
  // Taken before the call: one that is interrupted goes on with it.
  const std::shared_ptr<GlobalBatch> batch = std::exchange(filled.batch, nullptr);
  Result<uint64_t> seq = RunBlocking(
      [opened, batch, options = std::move(options)] { return opened->producer.Publish(std::move(*batch), options); });
  ReleaseDropped();
  if (!seq.ok()) filled.batch = batch;
  return Unwrap(std::move(seq));
}

PartTicket NextTicket(const ProducerHandle& handle, uint32_t dp, uint32_t cp, std::string content_type,
                      uint64_t schema_hash) {
  BatchOptions options{.content_type = std::move(content_type), .schema_hash = schema_hash};
  return Unwrap(handle.Get()->producer.NextTicket({.dp = dp, .cp = cp}, std::move(options)));
}

uint64_t PublishParts(const ProducerHandle& handle, const nb::list& receipts, nb::handle cursor,
                      nb::handle cursor_before, uint64_t samples, nb::handle metadata) {
  PublishOptions options{.cursor = CopyOf(cursor), .samples = samples, .metadata = CopyOf(metadata)};
  if (!cursor_before.is_none()) options.cursor_before = CopyOf(cursor_before);
  return Unwrap(RunBlocking([opened = handle.Get(), parts = ToReceipts(receipts), options = std::move(options)] {
    return opened->producer.PublishParts(parts, options);
  }));
}

nb::object Cursor(const ProducerHandle& handle) {
  const std::optional<Bytes>& cursor = handle.Get()->producer.cursor();
  if (!cursor) return nb::none();
  return ToPython(*cursor);
}

nb::dict Stats(const ProducerHandle& handle) {
  const ProducerStats stats = handle.Get()->producer.stats();
  nb::dict all;
  all["published"] = stats.published;
  all["committed"] = stats.committed;
  all["published_bytes"] = stats.published_bytes;
  all["pending_bytes"] = stats.pending_bytes;
  all["late"] = stats.late;
  all["staleness_max"] = ToSeconds(stats.staleness_max);
  all["commits"] = stats.commits;
  all["commits_lost"] = stats.commits_lost;
  all["retries"] = stats.retries;
  all["waited_for_room"] = ToSeconds(stats.waited_for_room);
  return all;
}

// Waits no longer than `timeout` seconds; None: as long as there is progress.
void Flush(const ProducerHandle& handle, nb::handle timeout) {
  const std::shared_ptr<OpenedProducer> opened = handle.Get();
  const TimePoint deadline = DeadlineOf(opened->on->env->env().clock, timeout);
  Result<void> flushed = RunBlocking([opened, deadline] { return opened->producer.Flush(deadline); });
  ReleaseDropped();
  Unwrap(std::move(flushed));
}

void Finish(const ProducerHandle& handle, nb::handle timeout) {
  const std::shared_ptr<OpenedProducer> opened = handle.Get();
  const TimePoint deadline = DeadlineOf(opened->on->env->env().clock, timeout);
  Result<void> finished = RunBlocking([opened, deadline] { return opened->producer.Finish(deadline); });
  ReleaseDropped();
  Unwrap(std::move(finished));
}

// Wakes calls that wait in other threads. The end waits for what is under way in the store.
void Close(ProducerHandle& handle, nb::handle patience) {
  if (handle.is_open()) {
    RunBlockingFor(PatienceOf(patience), [opened = handle.Take()] {
      opened->producer.Close();
      return true;
    });
  }
  handle.Release();
  ReleaseDropped();
}

}  // namespace

void BindProducer(nb::module_& module) {
  nb::class_<ProducerHandle>(module, "Producer")
      .def_prop_ro("name", [](const ProducerHandle& handle) { return handle.Get()->producer.name(); })
      .def_prop_ro("incarnation",
                   [](const ProducerHandle& handle) { return handle.Get()->producer.incarnation().value; })
      .def_prop_ro("committed_seq", [](const ProducerHandle& handle) { return handle.Get()->producer.committed_seq(); })
      .def_prop_ro("cursor", &Cursor)
      .def("publish", &Publish, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg())
      .def("next_ticket", &NextTicket)
      .def("publish_parts", &PublishParts, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg())
      .def("drop_tickets", [](const ProducerHandle& handle) { handle.Get()->producer.DropTickets(); })
      .def("flush", &Flush, nb::arg().none())
      .def("finish", &Finish, nb::arg().none())
      .def("stats", &Stats)
      .def("close", &Close, nb::arg("patience") = nb::none())
      .def_prop_ro("is_open", &ProducerHandle::is_open);
}

}  // namespace batchweave::python
