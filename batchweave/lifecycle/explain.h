// Why is this data still here? Which hold of which group keeps how many steps and bytes. Pure; for `show` and people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/format/manifest.h"
#include "batchweave/log/history.h"

namespace batchweave {

// Bytes are those of DataBytes.
struct Hold {
  std::string group{};
  std::optional<std::string> checkpoint{};  // None: the start of the group's session.
  Step position{};
  bool pinned = false;
  uint64_t steps = 0;  // From the position to the end of the stream: kept by this hold, whoever else keeps them.
  uint64_t bytes = 0;
  uint64_t steps_alone = 0;  // Kept by this hold and no other: what a trim could take were it released.
  uint64_t bytes_alone = 0;
};

// Every hold, smallest position first: the first one is what the next trim waits for.
std::vector<Hold> ExplainHolds(const Manifest& manifest);

}  // namespace batchweave
