// What a committer has seen of the log, told to its law.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "batchweave/format/manifest.h"
#include "batchweave/format/manifest_glimpse.h"
#include "batchweave/producer/commit_law.h"

namespace batchweave {

class SeenLog {
 public:
  // The newest version that was seen; 0: none, or a stream's before the first commit.
  Version version() const { return version_; }

  // `ours`: producers of this committer; those of others are what the law wants to know of.
  CommitLaw::Seen See(const Manifest& version, const std::unordered_set<std::string>& ours);
  CommitLaw::Seen See(const ManifestGlimpse& version, const std::unordered_set<std::string>& ours);

 private:
  CommitLaw::Seen Advance(const Manifest& version, const std::vector<std::string>& recent,
                          const std::unordered_set<std::string>& ours);

  Version version_{};
  Step end_{};
};

}  // namespace batchweave
