#include "batchweave/store/cloud/put_in_parts.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace batchweave {
namespace {

struct FreeUpload {
  void operator()(BwcUpload* upload) const { bwc_upload_free(upload); }
};

// All of `pieces`, cut anew.
std::vector<std::vector<BwcView>> Cut(std::span<const ByteView> pieces, uint64_t part_bytes) {
  std::vector<std::vector<BwcView>> parts(1);
  uint64_t room = part_bytes;
  for (ByteView rest : pieces) {
    while (!rest.empty()) {
      if (room == 0) {
        parts.emplace_back();
        room = part_bytes;
      }
      const ByteView taken = rest.first(std::min<uint64_t>(room, rest.size()));
      parts.back().push_back({.data = taken.data(), .size = taken.size()});
      rest = rest.subspan(taken.size());
      room -= taken.size();
    }
  }
  return parts;
}

}  // namespace

Result<void> PutInParts(const BwcHandle& handle, const CloudRetry& retry, std::string_view key,
                        std::span<const ByteView> pieces, PutMode mode, uint64_t part_bytes) {
  const std::vector<std::vector<BwcView>> cut = Cut(pieces, part_bytes);
  std::vector<BwcPart> parts;
  parts.reserve(cut.size());
  for (const std::vector<BwcView>& part : cut) parts.push_back({.pieces = part.data(), .count = part.size()});

  std::unique_ptr<BwcUpload, FreeUpload> upload;
  BwcStatus status =
      retry.Run([&](BwcStatus* out) { upload.reset(bwc_upload_begin(&handle, ViewOf(key), parts.size(), out)); });
  if (status.code != kBwcOk) return ErrorOf(status, "put", key);
  status = retry.Run([&](BwcStatus* out) { bwc_upload_parts(&handle, upload.get(), parts.data(), parts.size(), out); });
  if (status.code == kBwcOk) bwc_upload_complete(&handle, upload.get(), mode == PutMode::kCreate, &status);
  if (status.code == kBwcOk) return {};
  // Of one whose end is unknown too: either it is an object by now, or it shall not become one.
  retry.Run([&](BwcStatus* out) { bwc_upload_abort(&handle, upload.get(), out); });
  return ErrorOf(status, "put", key);
}

}  // namespace batchweave
