// The parts of the module `batchweave._native`, a file each. A binding copies its arguments, lets go of the GIL, calls, and
// raises what came back: it decides nothing. The package batchweave is what people use, and has the documentation.
#pragma once

#include <nanobind/nanobind.h>

namespace batchweave::python {

void BindBatch(nanobind::module_& module);
void BindConsumer(nanobind::module_& module);
void BindGroup(nanobind::module_& module);
void BindParts(nanobind::module_& module);
void BindProducer(nanobind::module_& module);
void BindStream(nanobind::module_& module);

}  // namespace batchweave::python
