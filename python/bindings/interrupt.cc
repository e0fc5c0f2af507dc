#include "python/bindings/interrupt.h"

#include <unistd.h>

namespace batchweave::python {

// Also in a forked child, whatever thread forked: Python then takes it for the first.
bool HandlesSignals() { return gettid() == getpid(); }

void CheckSignals() {
  ++signal_checks;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace batchweave::python
