// Somebody who finds bad data: quarantines steps near the end of the stream, and changes his mind about some.
#pragma once

#include "batchweave/base/result.h"
#include "bench/soak/folder.h"

namespace batchweave::bench {

// Whose records (SoakFolder::Records) tell what lies at the steps that were ever quarantined.
inline constexpr const char* kQuarantineGroup = "quarantine";

// Until told to stop. Never takes the last step before a checkpoint, which every rank must have read.
// Errors: of the log, and of the folder.
Result<void> RunSoakQuarantiner(const SoakFolder& folder, uint64_t checkpoint_every);

}  // namespace batchweave::bench
