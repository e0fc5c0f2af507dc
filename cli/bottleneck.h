// What bounds a stream, as far as can be told from outside: who waits for whom. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "batchweave/format/manifest.h"
#include "batchweave/store/full_probe.h"

namespace batchweave::cli {

struct ProducerPace {
  std::string producer;
  uint64_t batches = 0;      // Of it in the manifest's newest entries.
  double batches_per_s = 0;  // Over the time that those entries span; 0: too few to tell.
  friend bool operator==(const ProducerPace&, const ProducerPace&) = default;
};

struct GroupLead {
  std::string group;
  uint64_t steps_ahead = 0;  // Committed, and not read yet by its hint.
};

struct Bottleneck {
  std::optional<double> seconds_since_commit;  // None: nothing was ever committed.
  std::vector<ProducerPace> producers;         // Ordered by name.
  double steps_per_s = 0;                      // Of all together; 0: too few to tell.
  std::string bound;  // "nothing", "producers", "preparation", "upload", "commit", "download" or "trainer".
  std::string why;    // A line for people.
};

// From the newest version, how far its groups are behind, and the figures of the store (may be empty).
Bottleneck FindBottleneck(const Manifest& manifest, const std::vector<GroupLead>& leads, Duration wall_now,
                          const std::vector<SizeFigures>& figures);

}  // namespace batchweave::cli
