#include "batchweave/stream/verify_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "batchweave/base/hash.h"

namespace batchweave {
namespace {

// An object's bytes in order, a buffer at a time.
class SequentialReader {
 public:
  SequentialReader(ObjectStore& store, const std::string& key, MutableByteView buffer,
                   const std::function<void(uint64_t)>& on_read)
      : store_(store), key_(key), buffer_(buffer), on_read_(on_read) {}

  // Goes on at `offset`, which is not before the bytes already taken. `end`: no byte beyond it is wanted.
  void SkipTo(uint64_t offset) { position_ = offset; }

  // The next bytes, at least 1 and at most `bytes_max`, valid until the next call.
  Result<ByteView> Take(uint64_t bytes_max, uint64_t end) {
    if (position_ < begin_ || position_ >= begin_ + filled_) BW_TRY(Fill(end));
    const uint64_t within = position_ - begin_;
    const ByteView taken = ByteView(buffer_).subspan(within, std::min<uint64_t>(bytes_max, filled_ - within));
    position_ += taken.size();
    return taken;
  }

 private:
  Result<void> Fill(uint64_t end) {
    const uint64_t wanted = std::min<uint64_t>(buffer_.size(), end - position_);
    ReadRequest request{.key = key_, .offset = position_, .buffer = buffer_.first(wanted)};
    BW_TRY(store_.Get({&request, 1}));
    if (request.received_bytes != wanted) {
      return Error{ErrorCode::kCorrupt, fmt::format("object is cut short: key={} bytes={} expected={}", key_,
                                                    position_ + request.received_bytes, position_ + wanted)};
    }
    begin_ = position_;
    filled_ = wanted;
    if (on_read_) on_read_(wanted);
    return {};
  }

  ObjectStore& store_;
  const std::string& key_;
  const MutableByteView buffer_;
  const std::function<void(uint64_t)>& on_read_;
  uint64_t position_ = 0;  // Of the next byte to take.
  uint64_t begin_ = 0;     // Of the buffer's first byte, in the object.
  uint64_t filled_ = 0;
};

// The footer, and the provenance before it held against its hash there.
Result<TgbFooter> ReadFooter(ObjectStore& store, const PartToVerify& wanted) {
  const Part& part = wanted.part;
  Bytes end(size_t{part.provenance_bytes} + part.footer_bytes);
  ReadRequest request{.key = wanted.key, .offset = part.object_bytes - end.size(), .buffer = end};
  BW_TRY(store.Get({&request, 1}));
  Result<TgbFooter> footer = DecodeTgbFooter(ByteView(end).first(request.received_bytes));
  if (!footer.ok()) return WithContext(footer.error(), wanted.key);
  const Result<void> agrees = CheckFooterOf(*footer, wanted.identity.stream_id, wanted.entry, part);
  if (!agrees.ok()) return WithContext(agrees.error(), wanted.key);
  const Result<void> whole = CheckProvenanceOf(*footer, ByteView(end).first(part.provenance_bytes));
  if (!whole.ok()) return WithContext(whole.error(), wanted.key);
  return footer;
}

// The trailer of one slice, held against its content.
Result<uint64_t> VerifySlice(SequentialReader& reader, const PartToVerify& wanted, const PartLayout& layout,
                             Coordinate at) {
  reader.SkipTo(layout.SliceOffset(at));
  Hasher64 hasher;
  for (uint64_t left = layout.SliceBytes(at); left > 0;) {
    const ByteView piece = BW_TRY(reader.Take(left, layout.payload_end()));
    hasher.Update(piece);
    left -= piece.size();
  }
  std::array<std::byte, kTrailerBytes> trailer;
  for (size_t filled = 0; filled < trailer.size();) {
    const ByteView piece = BW_TRY(reader.Take(trailer.size() - filled, layout.payload_end()));
    std::ranges::copy(piece, trailer.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += piece.size();
  }
  const uint64_t found = LoadTrailer(trailer);
  const uint64_t expected = SliceTrailer(wanted.identity, at, layout.SliceBytes(at), hasher.Digest());
  if (found == expected) return found;
  return Error{ErrorCode::kCorrupt, fmt::format("a slice is not what its trailer says: dp={} cp={} key={} "
                                                "expected={:016x} found={:016x}",
                                                at.dp, at.cp, wanted.key, expected, found)};
}

}  // namespace

Result<std::vector<uint64_t>> VerifyPart(ObjectStore& store, const PartToVerify& wanted, MutableByteView buffer,
                                         const std::function<void(uint64_t bytes)>& on_read) {
  const TgbFooter footer = BW_TRY(ReadFooter(store, wanted));
  const GridRange& range = wanted.part.range;
  const PartLayout layout = BW_TRY(PartLayout::Make(range, footer.slice_bytes));
  SequentialReader reader(store, wanted.key, buffer, on_read);
  std::vector<uint64_t> trailers;
  trailers.reserve(range.slices());
  for (uint32_t cp = 0; cp < range.cp_count; ++cp) {
    for (uint32_t dp = 0; dp < range.dp_count; ++dp) {
      const Coordinate at{.dp = range.dp_begin + dp, .cp = range.cp_begin + cp};
      trailers.push_back(BW_TRY(VerifySlice(reader, wanted, layout, at)));
    }
  }
  if (const Hash128 digest = DigestOfTrailers(trailers); digest != footer.digest) {
    return Error{ErrorCode::kCorrupt, fmt::format("the footer's digest is not that of the slices: key={} expected={} "
                                                  "found={}",
                                                  wanted.key, ToHex(digest), ToHex(footer.digest))};
  }
  return trailers;
}

Hash128 DigestOfParts(const Entry& entry, const std::vector<std::vector<uint64_t>>& trailers) {
  std::vector<uint64_t> whole(entry.grid.slices());
  for (size_t i = 0; i < entry.parts.size(); ++i) {
    const GridRange& range = entry.parts[i].range;
    size_t next = 0;
    for (uint32_t cp = 0; cp < range.cp_count; ++cp) {
      for (uint32_t dp = 0; dp < range.dp_count; ++dp) {
        const size_t index = size_t{range.cp_begin + cp} * entry.grid.dp + range.dp_begin + dp;
        whole[index] = trailers[i][next++];
      }
    }
  }
  return DigestOfTrailers(whole);
}

}  // namespace batchweave
