// The stream that a scenario begins with: its producers are open, and it has as many live steps as the scenario wants.
#pragma once

#include <string>
#include <vector>

#include "batchweave/log/manifest_log.h"
#include "sim/scale/lab_store.h"

namespace batchweave::sim {

struct LabStream {
  StreamKeys keys{};
  Hash128 stream_json_hash{};
  Incarnation incarnation{};  // Of all producers, which one version opened.
  Step next_step{};
};

std::string LabProducerName(size_t index);
// The index that LabProducerName made `name` of; none where it is of the history before.
std::optional<size_t> LabProducerIndex(std::string_view name);

// Commits the history through the log, a thousand entries a version. Versions that are past are removed again, since nobody
// of a scenario sleeps so long.
LabStream MakeLabStream(Env env, LabServer& server, size_t producers, uint64_t steps);

}  // namespace batchweave::sim
