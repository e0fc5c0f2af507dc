#include "examples/demo/data/record.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/base/hash.h"
#include "examples/demo/data/files.h"
#include "examples/demo/data/slice.h"
#include "examples/demo/data/wire.h"

namespace batchweave::demo {
namespace {

constexpr std::string_view kMagic = "BWREC001";
constexpr size_t kChecksumBytes = 8;

Result<Record> Decode(ByteView bytes) {
  if (bytes.size() < kMagic.size() + kChecksumBytes || AsText(bytes.first(kMagic.size())) != kMagic) {
    return Error{ErrorCode::kCorrupt, "not a record"};
  }
  const ByteView covered = bytes.first(bytes.size() - kChecksumBytes);
  Reader trailer(bytes.last(kChecksumBytes));
  const uint64_t checksum = BW_TRY(trailer.TakeU64());
  if (checksum != Hash64(covered)) return Error{ErrorCode::kCorrupt, "checksum mismatch"};
  Reader reader(covered.subspan(kMagic.size()));
  Record record;
  record.position = BW_TRY(reader.TakeU64());
  record.statistic = BW_TRY(Statistic::DecodeFrom(reader));
  record.ledger = BW_TRY(Ledger::DecodeFrom(reader));
  if (!reader.empty()) return Error{ErrorCode::kCorrupt, "record is longer than it says"};
  return record;
}

}  // namespace

Result<void> Record::Fold(ByteView slice) {
  const Slice decoded = BW_TRY(DecodeSlice(slice));
  statistic.Fold(decoded);
  ledger.Record(decoded);
  return {};
}

void Record::Merge(const Record& other) {
  statistic.Merge(other.statistic);
  ledger.Merge(other.ledger);
}

Result<void> Record::Save(const std::string& path) const {
  Writer body;
  body.PutBytes(AsBytes(kMagic));
  body.PutU64(position);
  statistic.EncodeTo(body);
  ledger.EncodeTo(body);
  body.PutU64(Hash64(body.bytes()));
  return ReplaceFile(path, body.bytes());
}

Result<Record> Record::Load(const std::string& path) {
  const Bytes bytes = BW_TRY(ReadFile(path));
  Result<Record> record = Decode(bytes);
  if (!record.ok()) return WithContext(std::move(record).error(), path);
  return record;
}

}  // namespace batchweave::demo
