#include "batchweave/lifecycle/explain.h"

#include <algorithm>
#include <tuple>

namespace batchweave {
std::vector<Hold> ExplainHolds(const Manifest& manifest) {
  std::vector<Hold> holds;
  for (const GroupRow& group : manifest.groups) {
    if (group.start_held) holds.push_back({.group = group.name, .position = group.start});
  }
  for (const Checkpoint& checkpoint : manifest.checkpoints) {
    holds.push_back({.group = checkpoint.group,
                     .checkpoint = checkpoint.name,
                     .position = checkpoint.position,
                     .pinned = checkpoint.pinned});
  }
  std::ranges::sort(holds, {}, [](const Hold& hold) { return std::tie(hold.position, hold.group, hold.checkpoint); });
  for (Hold& hold : holds) {
    hold.steps = manifest.next_step.value - hold.position.value;
    hold.bytes = DataBytes(manifest, hold.position, manifest.next_step);
  }
  if (holds.empty()) return holds;
  // Holds reach to the end of the stream, so only the first one can hold anything alone: up to where the second begins.
  const Step others = holds.size() > 1 ? holds[1].position : manifest.next_step;
  holds[0].steps_alone = others.value - holds[0].position.value;
  holds[0].bytes_alone = DataBytes(manifest, holds[0].position, others);
  return holds;
}

}  // namespace batchweave
