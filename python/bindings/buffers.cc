#include "python/bindings/buffers.h"

#include <atomic>
#include <utility>

namespace batchweave::python {
namespace {

namespace nb = nanobind;

// Objects whose last holder went on a thread of the library's: a list without a lock, since a process may fork while such a
// thread would hold it.
struct Dropped {
  PyObject* object;
  Dropped* next;
};
std::atomic<Dropped*> newest_dropped{nullptr};

void Drop(PyObject* object) {
  auto* const dropped = new Dropped{.object = object, .next = newest_dropped.load()};
  while (!newest_dropped.compare_exchange_weak(dropped->next, dropped)) {
  }
}

}  // namespace

BufferView::BufferView(nb::handle object) {
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_C_CONTIGUOUS) != 0) throw nb::python_error();
}

BufferView::BufferView(BufferView&& other) noexcept : view_(std::exchange(other.view_, Py_buffer{})) {}

BufferView::~BufferView() {
  if (view_.obj != nullptr) PyBuffer_Release(&view_);
}

Bytes CopyOf(nb::handle object) {
  const BufferView view(object);
  return {view.bytes().begin(), view.bytes().end()};
}

std::shared_ptr<const void> KeepAlive(nb::object object) {
  return {object.release().ptr(), [](const void* kept) { Drop(static_cast<PyObject*>(const_cast<void*>(kept))); }};
}

void ReleaseDropped() {
  const Dropped* dropped = newest_dropped.exchange(nullptr);
  while (dropped != nullptr) {
    Py_DECREF(dropped->object);
    delete std::exchange(dropped, dropped->next);
  }
}

nb::bytes ToPython(ByteView bytes) { return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()); }

}  // namespace batchweave::python
