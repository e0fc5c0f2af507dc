// What the producers of a soak publish, and its ranks expect: bytes that tell whose they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/producer/global_batch.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "bench/soak/folder.h"

namespace batchweave::bench {

inline constexpr const char* kSoakStream = "soak";
inline constexpr Grid kSoakGrid{.dp = 8, .cp = 2};

// The stream as a process opens it.
struct OpenedSoak {
  std::unique_ptr<OwnedEnv> owned;
  Stream stream;
};
Result<OpenedSoak> OpenSoak(const SoakFolder& folder);

std::string SoakProducerName(uint64_t number);
uint64_t SoakProducerNumber(std::string_view name);

// The number that `text` begins with; 0 where it begins with none.
uint64_t NumberIn(std::string_view text);

// Bytes that no other slice of the stream has.
Bytes MakeSoakSlice(std::string_view producer, uint64_t seq, Coordinate at);
// A rectangle of the batch `seq`, as a batch of its own. Errors: those of GlobalBatch::Set.
Result<GlobalBatch> MakeSoakBatch(std::string_view producer, uint64_t seq, GridRange range);

// What whoever gets the batch of `entry` writes down of it.
StepRecord RecordOf(const Entry& entry);

// One of the two parts that a batch may be made of.
inline GridRange SoakPart(uint32_t cp) {
  return {.dp_begin = 0, .dp_count = kSoakGrid.dp, .cp_begin = cp, .cp_count = 1};
}

}  // namespace batchweave::bench
