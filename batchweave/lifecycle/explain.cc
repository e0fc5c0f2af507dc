#include "batchweave/lifecycle/explain.h"

#include <algorithm>
#include <tuple>

namespace batchweave {
namespace {

uint64_t ObjectBytes(const Entry& entry) {
  uint64_t bytes = 0;
  for (const Part& part : entry.parts) bytes += part.object_bytes;
  return bytes;
}

uint64_t Share(const ArchiveRef& ref, Step first, Step end) {
  const Step from = std::max(first, ref.first);
  const Step to = std::min(end, ref.end);
  if (from >= to) return 0;
  const double share =
      static_cast<double>(to.value - from.value) / static_cast<double>(ref.end.value - ref.first.value);
  return share < 1 ? static_cast<uint64_t>(static_cast<double>(ref.payload_bytes) * share) : ref.payload_bytes;
}

}  // namespace

uint64_t DataBytes(const Manifest& manifest, Step first, Step end) {
  first = std::max(first, manifest.first_step);
  end = std::min(end, manifest.next_step);
  uint64_t bytes = 0;
  for (const ArchiveRef& ref : manifest.archives) bytes += Share(ref, first, end);
  const Step tail_first = manifest.tail_first();
  for (Step step = std::max(first, tail_first); step < end; step = step + 1) {
    bytes += ObjectBytes(manifest.tail[step.value - tail_first.value]);
  }
  return bytes;
}

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
