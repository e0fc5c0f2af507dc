#include "bench/soak/batches.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace batchweave::bench {
namespace {

constexpr size_t kSliceBytes = 200;
constexpr std::string_view kProducerPrefix = "producer-";

}  // namespace

Result<OpenedSoak> OpenSoak(const SoakFolder& folder) {
  auto owned = BW_TRY(OpenEnv(folder.store(), {.durability = Durability::kNone}));
  Stream stream = BW_TRY(Stream::Open(owned->env(), kSoakStream));
  return OpenedSoak{.owned = std::move(owned), .stream = std::move(stream)};
}

std::string SoakProducerName(uint64_t number) { return fmt::format("{}{}", kProducerPrefix, number); }

uint64_t SoakProducerNumber(std::string_view name) { return NumberIn(name.substr(kProducerPrefix.size())); }

uint64_t NumberIn(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

StepRecord RecordOf(const Entry& entry) {
  return {.is_there = 1, .producer = SoakProducerNumber(entry.producer), .seq = entry.seq, .digest = entry.digest.low};
}

Bytes MakeSoakSlice(std::string_view producer, uint64_t seq, Coordinate at) {
  const std::string text = fmt::format("{} {} {} {};", producer, seq, at.dp, at.cp);
  std::string slice;
  while (slice.size() < kSliceBytes) slice += text;
  return ToBytes(slice);
}

Result<GlobalBatch> MakeSoakBatch(std::string_view producer, uint64_t seq, GridRange range) {
  GlobalBatch batch({.dp = range.dp_count, .cp = range.cp_count});
  for (uint32_t cp = 0; cp < range.cp_count; ++cp) {
    for (uint32_t dp = 0; dp < range.dp_count; ++dp) {
      const Coordinate at{.dp = range.dp_begin + dp, .cp = range.cp_begin + cp};
      BW_TRY(batch.Set({.dp = dp, .cp = cp}, MakeSoakSlice(producer, seq, at)));
    }
  }
  return batch;
}

}  // namespace batchweave::bench
