#include "batchweave/format/object_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "batchweave/base/hash.h"
#include "batchweave/format/little_endian.h"
#include "batchweave/format/stream_info.h"

namespace batchweave {
namespace {

// Where the fields of a frame lie. Bytes 40 to 55 are zero, for what later versions need.
constexpr size_t kMagicAt = 0;
constexpr size_t kFormatVersionAt = 8;
constexpr size_t kFirstBytesAt = 16;
constexpr size_t kSecondBytesAt = 24;
constexpr size_t kFirstHashAt = 32;
constexpr size_t kFrameHashAt = 56;

// FlatBuffers addresses within a block by 31 bits; no block of ours comes near.
constexpr uint64_t kBlockBytesMax = uint64_t{1} << 30;
constexpr size_t kBlockAlignment = 8;

struct Kind {
  std::string_view magic;
  std::string_view name;
};

// In the order of ObjectKind.
constexpr std::array<Kind, 9> kKinds = {{
    {"BWmanif\n", "manifest"},
    {"BWtombs\n", "tombstone"},
    {"BWentry\n", "archived entries"},
    {"BWindex\n", "archive index"},
    {"BWrows_\n", "archived rows"},
    {"BWtickt\n", "part ticket"},
    {"BWrecpt\n", "part receipt"},
    {"BWinten\n", "batch intent"},
    {"BWopeni\n", "producer's opening"},
}};

std::optional<ObjectKind> KindOf(std::string_view magic) {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i].magic == magic) return static_cast<ObjectKind>(i);
  }
  return std::nullopt;
}

Error Corrupt(std::string_view reason) { return {ErrorCode::kCorrupt, std::string(reason)}; }

}  // namespace

std::string_view ObjectKindName(ObjectKind kind) { return kKinds[static_cast<size_t>(kind)].name; }

Bytes EncodeFramed(ObjectKind kind, ByteView first, ByteView second) {
  BW_CHECK(first.size() <= kBlockBytesMax && second.size() <= kBlockBytesMax);
  std::array<std::byte, kFrameBytes> frame{};
  std::ranges::copy(AsBytes(kKinds[static_cast<size_t>(kind)].magic), frame.begin() + kMagicAt);
  StoreLittleEndian(kFormatVersion, frame, kFormatVersionAt);
  StoreLittleEndian(uint64_t{first.size()}, frame, kFirstBytesAt);
  StoreLittleEndian(uint64_t{second.size()}, frame, kSecondBytesAt);
  StoreLittleEndian(Hash64(first), frame, kFirstHashAt);
  StoreLittleEndian(Hash64(ByteView(frame).first(kFrameHashAt)), frame, kFrameHashAt);
  return Join(std::array<ByteView, 3>{frame, first, second});
}

Result<ObjectFrame> DecodeFrame(ByteView prefix) {
  if (prefix.size() < kFrameBytes) return Corrupt(fmt::format("object is cut short: bytes={}", prefix.size()));
  const ByteView frame = prefix.first(kFrameBytes);
  const std::optional<ObjectKind> kind = KindOf(AsText(frame.first(kFormatVersionAt)));
  if (!kind) return Corrupt("object has no magic of ours");
  // Before the version is believed: this part of the frame is the same in every version to come.
  const uint64_t expected = LoadLittleEndian<uint64_t>(frame, kFrameHashAt);
  if (const uint64_t found = Hash64(frame.first(kFrameHashAt)); found != expected) {
    return Corrupt(fmt::format("checksum mismatch in the frame: expected={:016x} found={:016x}", expected, found));
  }
  const auto version = LoadLittleEndian<uint32_t>(frame, kFormatVersionAt);
  if (version > kFormatVersion) {
    return Error{ErrorCode::kIncompatible, fmt::format("{} was written by newer software: format={} known={}",
                                                       ObjectKindName(*kind), version, kFormatVersion)};
  }
  const ObjectFrame decoded{.kind = *kind,
                            .first_bytes = LoadLittleEndian<uint64_t>(frame, kFirstBytesAt),
                            .second_bytes = LoadLittleEndian<uint64_t>(frame, kSecondBytesAt),
                            .first_hash = LoadLittleEndian<uint64_t>(frame, kFirstHashAt)};
  if (version == 0 || decoded.first_bytes > kBlockBytesMax || decoded.second_bytes > kBlockBytesMax) {
    return Corrupt("frame makes no sense");
  }
  return decoded;
}

Result<ByteView> DecodeFirstBlock(ObjectKind kind, ByteView prefix) {
  const ObjectFrame frame = BW_TRY(DecodeFrame(prefix));
  if (frame.kind != kind) {
    return Corrupt(fmt::format("{} where a {} should be", ObjectKindName(frame.kind), ObjectKindName(kind)));
  }
  if (prefix.size() < frame.first_end()) {
    return Corrupt(
        fmt::format("{} is cut short: bytes={} expected={}", ObjectKindName(kind), prefix.size(), frame.first_end()));
  }
  const ByteView block = prefix.subspan(kFrameBytes, frame.first_bytes);
  if (const uint64_t found = Hash64(block); found != frame.first_hash) {
    return Corrupt(fmt::format("checksum mismatch in the {}: expected={:016x} found={:016x}", ObjectKindName(kind),
                               frame.first_hash, found));
  }
  return block;
}

Result<ByteView> DecodeWholeBlock(ObjectKind kind, ByteView object) {
  const ByteView block = BW_TRY(DecodeFirstBlock(kind, object));
  if (object.size() == kFrameBytes + block.size()) return block;
  return Corrupt(fmt::format("{} has the wrong length: bytes={} expected={}", ObjectKindName(kind), object.size(),
                             kFrameBytes + block.size()));
}

AlignedBlock::AlignedBlock(ByteView bytes) : view_(bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kBlockAlignment == 0) return;
  copy_.assign(bytes.begin(), bytes.end());
  view_ = copy_;
}

}  // namespace batchweave
