#include "python/bindings/batch.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "python/bindings/bind.h"
#include "python/bindings/buffers.h"
#include "python/bindings/errors.h"

namespace batchweave::python {
namespace {

namespace nb = nanobind;

GlobalBatch& Unpublished(const FilledBatch& filled) {
  if (!filled.batch) Raise({ErrorCode::kInvalidArgument, "the batch was published already: fill another one"});
  return *filled.batch;
}

FilledBatch NewBatch(uint32_t dp, uint32_t cp, std::string content_type, uint64_t schema_hash) {
  const Grid grid{.dp = dp, .cp = cp};
  BatchOptions options{.content_type = std::move(content_type), .schema_hash = schema_hash};
  Unwrap(CheckBatchShape(grid, options));
  return {std::make_shared<GlobalBatch>(grid, std::move(options))};
}

// One piece that cannot change is referenced; others are copied into one block.
void SetSlice(FilledBatch& filled, uint32_t dp, uint32_t cp, const nb::list& pieces) {
  GlobalBatch& batch = Unpublished(filled);
  const Coordinate at{.dp = dp, .cp = cp};
  if (pieces.size() == 1 && PyBytes_CheckExact(nb::object(pieces[0]).ptr())) {
    const nb::object piece = pieces[0];
    const ByteView bytes =
        AsBytes({PyBytes_AS_STRING(piece.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(piece.ptr()))});
    return Unwrap(batch.SetReference(at, bytes, KeepAlive(piece)));
  }
  std::vector<BufferView> views;
  std::vector<ByteView> bytes;
  for (const nb::handle piece : pieces) {
    views.emplace_back(piece);
    bytes.push_back(views.back().bytes());
  }
  Bytes joined;
  {
    const nb::gil_scoped_release release;
    joined = Join(bytes);
  }
  Unwrap(batch.Set(at, std::move(joined)));
}

}  // namespace

void BindBatch(nb::module_& module) {
  nb::class_<FilledBatch>(module, "GlobalBatch")
      .def_static("new", &NewBatch)
      .def("set", &SetSlice)
      .def("check_complete", [](const FilledBatch& filled) { Unwrap(Unpublished(filled).CheckComplete()); })
      .def_prop_ro("size_bytes", [](const FilledBatch& filled) { return Unpublished(filled).size_bytes(); });
}

}  // namespace batchweave::python
