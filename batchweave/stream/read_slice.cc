#include "batchweave/stream/read_slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/base/hash.h"
#include "batchweave/format/tgb.h"
#include "batchweave/stream/describe.h"

namespace batchweave {
namespace {

// Large enough that a request's latency does not count, small enough that a bar moves.
constexpr uint64_t kBlockBytes = uint64_t{8} << 20;

// A slice that came altered is read once more: the store may have been at fault, and not the object.
constexpr int kReadsMax = 2;

// Fills `bytes` from `offset` of the object on.
Result<void> ReadBlocks(ObjectStore& store, const std::string& key, uint64_t offset, MutableByteView bytes,
                        const ByteProgress& progress) {
  for (uint64_t done = 0; done < bytes.size();) {
    const MutableByteView block = bytes.subspan(done, std::min<uint64_t>(kBlockBytes, bytes.size() - done));
    ReadRequest request{.key = key, .offset = offset + done, .buffer = block};
    BW_TRY(store.Get({&request, 1}));
    if (request.received_bytes < block.size()) {
      return Error{ErrorCode::kCorrupt, fmt::format("object is cut short: key={} bytes={} expected={}", key,
                                                    offset + done + request.received_bytes, offset + bytes.size())};
    }
    done += block.size();
    if (progress) progress(done, bytes.size());
  }
  return {};
}

Result<Bytes> ReadVerified(Stream& stream, const StepDescription& step, const SliceDescription& slice,
                           const ByteProgress& progress) {
  const std::string& key = step.keys[slice.part];
  Bytes bytes(slice.size_bytes + kTrailerBytes);
  BW_TRY(ReadBlocks(stream.env().store, key, slice.offset, bytes, progress));
  const Entry& entry = step.entry;
  const TgbIdentity identity{
      .stream_id = stream.id(), .producer = entry.producer, .incarnation = entry.incarnation, .seq = entry.seq};
  const uint64_t hash = Hash64(ByteView(bytes).first(slice.size_bytes));
  const uint64_t expected = SliceTrailer(identity, slice.at, slice.size_bytes, hash);
  const uint64_t found = LoadTrailer(ByteView(bytes).last<kTrailerBytes>());
  if (found != expected) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the slice is not what its trailer says: step={} dp={} cp={} key={} expected={:016x} "
                             "found={:016x}",
                             step.step.value, slice.at.dp, slice.at.cp, key, expected, found)};
  }
  bytes.resize(slice.size_bytes);
  return bytes;
}

}  // namespace

Result<Bytes> ReadSlice(Stream& stream, const SliceAddress& address, const ByteProgress& progress) {
  const StepDescription step = BW_TRY(DescribeStep(stream, address.step));
  const Grid grid = step.entry.grid;
  if (address.at.dp >= grid.dp || address.at.cp >= grid.cp) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the slice is outside the step's grid of dp={} x cp={}: step={} dp={} cp={}", grid.dp,
                             grid.cp, address.step.value, address.at.dp, address.at.cp)};
  }
  const SliceDescription& slice = step.slices[size_t{address.at.cp} * grid.dp + address.at.dp];
  Result<Bytes> read = ReadVerified(stream, step, slice, progress);
  for (int reads = 1; reads < kReadsMax && FailedWith(read, ErrorCode::kCorrupt); ++reads) {
    read = ReadVerified(stream, step, slice, progress);
  }
  if (FailedWith(read, ErrorCode::kNotFound)) return ExplainMissing(stream, address.step, step.keys[slice.part]);
  return read;
}

}  // namespace batchweave
