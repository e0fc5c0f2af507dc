#include <nanobind/nanobind.h>

#include "batchweave/base/hash.h"
#include "python/bindings/bind.h"
#include "python/bindings/buffers.h"

namespace batchweave::python {

NB_MODULE(_native, module) {
  // An interpreter that ends while handles are open is no leak to tell of: their processes' ends are part of the design.
  nanobind::set_leak_warnings(false);
  BindBatch(module);
  BindProducer(module);
  BindConsumer(module);
  BindGroup(module);
  BindStream(module);
  module.def("hash64", [](nanobind::handle data) { return Hash64(BufferView(data).bytes()); });
  module.attr("__version__") = BATCHWEAVE_VERSION;
}

}  // namespace batchweave::python
