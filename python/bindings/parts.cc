#include "python/bindings/parts.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <numeric>

#include "python/bindings/bind.h"
#include "python/bindings/buffers.h"
#include "python/bindings/errors.h"

namespace batchweave::python {
namespace {

namespace nb = nanobind;

PartTicket DecodeTicket(nb::handle message) { return Unwrap(DecodePartTicket(BufferView(message).bytes())); }

PartReceipt DecodeReceipt(nb::handle message) { return Unwrap(DecodePartReceipt(BufferView(message).bytes())); }

nb::tuple RangeOf(const PartReceipt& receipt) {
  const GridRange& range = receipt.part.range;
  return nb::make_tuple(range.dp_begin, range.dp_count, range.cp_begin, range.cp_count);
}

uint64_t SizeOf(const PartReceipt& receipt) {
  const std::vector<uint64_t>& sizes = receipt.part.slice_bytes;
  if (sizes.size() == 1) return sizes.front() * receipt.part.range.slices();
  return std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
}

}  // namespace

std::vector<PartReceipt> ToReceipts(const nb::list& receipts) {
  std::vector<PartReceipt> all;
  for (const nb::handle receipt : receipts) all.push_back(nb::cast<PartReceipt>(receipt));
  return all;
}

void BindParts(nb::module_& module) {
  nb::class_<PartTicket>(module, "PartTicket")
      .def_static("decode", &DecodeTicket)
      .def("encode", [](const PartTicket& ticket) { return ToPython(EncodePartTicket(ticket)); })
      .def_prop_ro("producer", [](const PartTicket& ticket) { return ticket.identity.producer; })
      .def_prop_ro("incarnation", [](const PartTicket& ticket) { return ticket.identity.incarnation.value; })
      .def_prop_ro("seq", [](const PartTicket& ticket) { return ticket.identity.seq; })
      .def_prop_ro("dp", [](const PartTicket& ticket) { return ticket.grid.dp; })
      .def_prop_ro("cp", [](const PartTicket& ticket) { return ticket.grid.cp; })
      .def_ro("content_type", &PartTicket::content_type)
      .def_ro("schema_hash", &PartTicket::schema_hash);
  nb::class_<PartReceipt>(module, "PartReceipt")
      .def_static("decode", &DecodeReceipt)
      .def("encode", [](const PartReceipt& receipt) { return ToPython(EncodePartReceipt(receipt)); })
      .def_ro("ticket", &PartReceipt::ticket)
      .def_prop_ro("range", &RangeOf)
      .def_prop_ro("size_bytes", &SizeOf);
}

}  // namespace batchweave::python
