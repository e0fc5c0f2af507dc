// From an Error of the library to an exception of batchweave.errors.
#pragma once

#include <utility>

#include "batchweave/base/result.h"

namespace batchweave::python {

// Raises the exception of error.code, with its message. The GIL is held.
[[noreturn]] void Raise(const Error& error);

// The value of `result`; raises its error. The GIL is held.
template <typename T>
T Unwrap(Result<T>&& result) {
  if (!result.ok()) Raise(result.error());
  return std::move(result).value();
}

}  // namespace batchweave::python
