#include "python/bindings/errors.h"

#include <nanobind/nanobind.h>

#include <string>

namespace batchweave::python {

namespace nb = nanobind;

void Raise(const Error& error) {
  const std::string code(ErrorCodeName(error.code));
  const nb::object type = nb::module_::import_("batchweave.errors").attr("BY_CODE")[code.c_str()];
  // A message may hold a name of any bytes.
  const nb::object message = nb::steal(
      PyUnicode_DecodeUTF8(error.message.data(), static_cast<Py_ssize_t>(error.message.size()), "backslashreplace"));
  if (message.is_valid()) PyErr_SetObject(type.ptr(), message.ptr());
  throw nb::python_error();
}

}  // namespace batchweave::python
