// Memory of Python objects as bytes of the library's, and back.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "batchweave/base/bytes.h"

namespace batchweave::python {

// A view of an object's memory, by the buffer protocol. Used with the GIL held, but for bytes().
class BufferView {
 public:
  // Raises BufferError where `object` has no memory, or none in one piece.
  explicit BufferView(nanobind::handle object);
  BufferView(BufferView&& other) noexcept;
  BufferView& operator=(BufferView&&) = delete;
  ~BufferView();

  ByteView bytes() const { return {static_cast<const std::byte*>(view_.buf), static_cast<size_t>(view_.len)}; }

 private:
  Py_buffer view_{};
};

// The bytes of `object`, copied. Raises as BufferView.
Bytes CopyOf(nanobind::handle object);

// Keeps `object` alive until the last holder goes, on whatever thread. That thread does not need the GIL: the object is
// given up at the next call of ReleaseDropped. Shared: see GlobalBatch::SetReference.
std::shared_ptr<const void> KeepAlive(nanobind::object object);

// Gives up what was dropped since the last call. The GIL is held.
void ReleaseDropped();

// `bytes` as a Python object of type bytes.
nanobind::bytes ToPython(ByteView bytes);

}  // namespace batchweave::python
