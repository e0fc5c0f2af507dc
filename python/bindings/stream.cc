#include "batchweave/stream/stream.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "batchweave/lifecycle/quarantine.h"
#include "batchweave/stream/describe.h"
#include "batchweave/stream/stream_url.h"
#include "python/bindings/batch.h"
#include "python/bindings/bind.h"
#include "python/bindings/buffers.h"
#include "python/bindings/durations.h"
#include "python/bindings/handle.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/opened.h"

namespace batchweave::python {
namespace {

namespace nb = nanobind;

using StreamHandle = Handle<OpenedStream>;

// A commit that is not made by then is reported.
constexpr Duration kCommitTime = std::chrono::minutes(2);

TimePoint CommitDeadline(Env env) { return After(env.clock.Now(), kCommitTime); }

StreamHandle Open(const std::string& url, bool create, const StorageOptions& storage_options, bool durable) {
  using Opened = std::shared_ptr<OpenedStream>;
  return StreamHandle(Unwrap(RunBlocking([=]() -> Result<Opened> {
    const StreamUrl split = BW_TRY(SplitStreamUrl(url));
    const EnvOptions options{.durability = durable ? Durability::kFull : Durability::kNone,
                             .storage_options = storage_options};
    std::unique_ptr<OwnedEnv> env = BW_TRY(OpenEnv(split.folder, options));
    Stream stream = BW_TRY(Stream::Open(env->env(), split.name, {.create = create}));
    return MakeShared<OpenedStream>(std::move(env), std::move(stream));
  })));
}

Handle<OpenedProducer> OpenProducer(const StreamHandle& handle, std::string name, const nb::dict& given) {
  const ProducerOptions options{.reopen = nb::cast<bool>(given["reopen"]),
                                .forget = nb::cast<bool>(given["forget"]),
                                .pending_bytes_max = nb::cast<uint64_t>(given["pending_bytes"]),
                                .upload_threads = nb::cast<uint32_t>(given["upload_threads"]),
                                .max_lead_steps = nb::cast<uint64_t>(given["max_lead_steps"]),
                                .max_lead_bytes = nb::cast<uint64_t>(given["max_lead_bytes"]),
                                .max_staleness = FromSeconds(nb::cast<double>(given["max_staleness"])),
                                .stall_after = FromSeconds(nb::cast<double>(given["stall_after"]))};
  using Opened = std::shared_ptr<OpenedProducer>;
  return Handle(Unwrap(RunBlocking([on = handle.Get(), name = std::move(name), options]() -> Result<Opened> {
    return MakeShared<OpenedProducer>(on, BW_TRY(on->stream.OpenProducer(name, options)));
  })));
}

ConsumerOptions ToConsumerOptions(const nb::dict& given) {
  return {.position = Step{nb::cast<uint64_t>(given["position"])},
          .rank = {.dp_rank = nb::cast<uint32_t>(given["dp_rank"]),
                   .dp_size = nb::cast<uint32_t>(given["dp_size"]),
                   .cp_rank = nb::cast<uint32_t>(given["cp_rank"]),
                   .cp_size = nb::cast<uint32_t>(given["cp_size"])},
          .group = nb::cast<std::string>(given["group"]),
          .session = Session{nb::cast<uint64_t>(given["session"])},
          .allow_uneven = nb::cast<bool>(given["allow_uneven"]),
          .prefetch_steps_max = nb::cast<uint32_t>(given["prefetch_steps"]),
          .prefetch_bytes_max = nb::cast<uint64_t>(given["prefetch_bytes"]),
          .prefetch_threads = nb::cast<uint32_t>(given["prefetch_threads"]),
          .stall_after = FromSeconds(nb::cast<double>(given["stall_after"]))};
}

Handle<OpenedConsumer> OpenConsumer(const StreamHandle& handle, const nb::dict& given) {
  const ConsumerOptions options = ToConsumerOptions(given);
  using Opened = std::shared_ptr<OpenedConsumer>;
  return Handle(Unwrap(RunBlocking([on = handle.Get(), options]() -> Result<Opened> {
    return MakeShared<OpenedConsumer>(on, BW_TRY(on->stream.OpenConsumer(options)), options);
  })));
}

PartReceipt WriteOnePart(const StreamHandle& handle, const PartTicket& ticket, const nb::tuple& range,
                         const FilledBatch& slices, nb::handle provenance) {
  const GridRange at{.dp_begin = nb::cast<uint32_t>(range[0]),
                     .dp_count = nb::cast<uint32_t>(range[1]),
                     .cp_begin = nb::cast<uint32_t>(range[2]),
                     .cp_count = nb::cast<uint32_t>(range[3])};
  Result<PartReceipt> receipt =
      RunBlocking([on = handle.Get(), ticket, at, batch = slices.batch, told = CopyOf(provenance)] {
        return on->stream.WritePart(ticket, at, *batch, told);
      });
  ReleaseDropped();
  return Unwrap(std::move(receipt));
}

void CreateGroup(const StreamHandle& handle, std::string name, uint64_t start) {
  Unwrap(RunBlocking(
      [on = handle.Get(), name = std::move(name), start] { return on->stream.CreateGroup(name, Step{start}); }));
}

Handle<OpenedGroup> OpenGroup(const StreamHandle& handle, std::string name, uint64_t start) {
  using Opened = std::shared_ptr<OpenedGroup>;
  return Handle(Unwrap(RunBlocking([on = handle.Get(), name = std::move(name), start]() -> Result<Opened> {
    return MakeShared<OpenedGroup>(on, BW_TRY(on->stream.OpenGroup(name, {.start = Step{start}})));
  })));
}

uint64_t Seal(const StreamHandle& handle) {
  return Unwrap(RunBlocking([on = handle.Get()] { return on->stream.Seal(); })).value;
}

StepRange ToRange(std::pair<uint64_t, uint64_t> steps) {
  return {.first = Step{steps.first}, .end = Step{steps.second}};
}

void QuarantineSteps(const StreamHandle& handle, std::pair<uint64_t, uint64_t> steps, std::string reason) {
  Unwrap(RunBlocking([on = handle.Get(), range = ToRange(steps), reason = std::move(reason)] {
    return SetQuarantine(on->stream.log(), range, reason, CommitDeadline(on->stream.env()));
  }));
}

void LiftSteps(const StreamHandle& handle, std::pair<uint64_t, uint64_t> steps) {
  Unwrap(RunBlocking([on = handle.Get(), range = ToRange(steps)] {
    return LiftQuarantine(on->stream.log(), range, CommitDeadline(on->stream.env()));
  }));
}

nb::dict GroupInfo(const Manifest& manifest, const GroupRow& group) {
  nb::dict checkpoints;  // In order of registration.
  for (const Checkpoint& checkpoint : manifest.checkpoints) {
    if (checkpoint.group == group.name) checkpoints[checkpoint.name.c_str()] = checkpoint.position.value;
  }
  nb::dict info;
  info["session"] = group.session.value;
  info["start"] = group.start.value;
  info["checkpoints"] = checkpoints;
  return info;
}

nb::dict Info(const StreamHandle& handle) {
  const Manifest manifest = Unwrap(RunBlocking([on = handle.Get()] { return on->stream.log().ReadNewest(); })).manifest;
  nb::dict groups;
  for (const GroupRow& group : manifest.groups) groups[group.name.c_str()] = GroupInfo(manifest, group);
  nb::list quarantined;
  for (const Quarantine& quarantine : manifest.quarantines) {
    if (quarantine.lifted_at == Version{}) {
      quarantined.append(nb::make_tuple(quarantine.first.value, quarantine.end.value, quarantine.reason));
    }
  }
  nb::dict info;
  info["version"] = manifest.version.value;
  info["first_step"] = manifest.first_step.value;
  info["next_step"] = manifest.next_step.value;
  info["sealed"] = manifest.sealed;
  info["groups"] = groups;
  info["quarantined"] = quarantined;
  return info;
}

nb::dict StepInfo(const StreamHandle& handle, uint64_t step) {
  const StepDescription told =
      Unwrap(RunBlocking([on = handle.Get(), step] { return DescribeStep(on->stream, Step{step}); }));
  nb::list provenance;
  for (const Bytes& of_part : told.provenance) provenance.append(ToPython(of_part));
  nb::dict info;
  info["step"] = told.step.value;
  info["producer"] = told.entry.producer;
  info["incarnation"] = told.entry.incarnation.value;
  info["seq"] = told.entry.seq;
  info["grid"] = nb::make_tuple(told.entry.grid.dp, told.entry.grid.cp);
  info["samples"] = told.entry.samples;
  info["content_type"] = told.entry.content_type;
  info["schema_hash"] = told.entry.schema_hash;
  info["cursor"] = ToPython(told.entry.cursor);
  info["metadata_bytes"] = ToPython(told.entry.metadata);
  info["provenance"] = provenance;
  return info;
}

}  // namespace

void BindStream(nb::module_& module) {
  nb::class_<StreamHandle>(module, "Stream")
      .def_prop_ro("name", [](const StreamHandle& handle) { return handle.Get()->stream.name(); })
      .def_prop_ro("id", [](const StreamHandle& handle) { return ToString(handle.Get()->stream.id()); })
      .def("open_producer", &OpenProducer)
      .def("open_consumer", &OpenConsumer)
      .def("write_part", &WriteOnePart)
      .def("step_info", &StepInfo)
      .def("create_group", &CreateGroup)
      .def("open_group", &OpenGroup)
      .def("seal", &Seal)
      .def("quarantine", &QuarantineSteps)
      .def("lift_quarantine", &LiftSteps)
      .def("info", &Info)
      .def("close", &CloseHandle<OpenedStream>, nb::arg("patience") = nb::none());
  module.def("open", &Open);
}

}  // namespace batchweave::python
