#include <nanobind/nanobind.h>
#include <pthread.h>

#include "batchweave/base/check.h"
#include "batchweave/base/hash.h"
#include "python/bindings/bind.h"
#include "python/bindings/buffers.h"
#include "python/bindings/durations.h"
#include "python/bindings/handle.h"
#include "python/bindings/interrupt.h"

namespace batchweave::python {

namespace {

uint64_t HashOf(nanobind::handle data) {
  const BufferView view(data);
  const nanobind::gil_scoped_release release;
  return Hash64(view.bytes());
}

}  // namespace

NB_MODULE(_native, module) {
  // An interpreter that ends while handles are open is no leak to tell of: their processes' ends are part of the design.
  nanobind::set_leak_warnings(false);
  BW_CHECK(pthread_atfork(nullptr, nullptr, [] { ++forks; }) == 0);
  BindBatch(module);
  BindParts(module);
  BindProducer(module);
  BindConsumer(module);
  BindGroup(module);
  BindStream(module);
  module.def("hash64", &HashOf);
  module.def("blocking_calls", [] { return blocking_calls.load(); });
  module.def("signal_checks", [] { return signal_checks.load(); });
  module.attr("SIGNAL_INTERVAL") = ToSeconds(kSignalInterval);
  module.attr("__version__") = BATCHWEAVE_VERSION;
}

}  // namespace batchweave::python
