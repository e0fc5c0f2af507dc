#include "batchweave/stream/group.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <utility>

#include "python/bindings/bind.h"
#include "python/bindings/handle.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/opened.h"

namespace batchweave::python {
namespace {

namespace nb = nanobind;

using GroupHandle = Handle<OpenedGroup>;

void Checkpoint(const GroupHandle& handle, std::string name, uint64_t step, size_t keep_last, bool pin, bool reclaim) {
  const CheckpointOptions options{.keep_last = keep_last, .pin = pin, .reclaim = reclaim};
  Unwrap(RunBlocking([opened = handle.Get(), name = std::move(name), step, options] {
    return opened->group.Checkpoint(name, Step{step}, options);
  }));
}

void ReleaseCheckpoint(const GroupHandle& handle, std::string name) {
  Unwrap(RunBlocking([opened = handle.Get(), name = std::move(name)] { return opened->group.Release(name); }));
}

void ReportProgress(const GroupHandle& handle, uint64_t step) {
  Unwrap(RunBlocking([opened = handle.Get(), step] { return opened->group.ReportProgress(Step{step}); }));
}

}  // namespace

void BindGroup(nb::module_& module) {
  nb::class_<GroupHandle>(module, "Group")
      .def_prop_ro("name", [](const GroupHandle& handle) { return handle.Get()->group.name(); })
      .def_prop_ro("session", [](const GroupHandle& handle) { return handle.Get()->group.session().value; })
      .def("checkpoint", &Checkpoint)
      .def("release", &ReleaseCheckpoint)
      .def("report_progress", &ReportProgress)
      .def("close", &CloseHandle<OpenedGroup>, nb::arg("patience") = nb::none());
}

}  // namespace batchweave::python
