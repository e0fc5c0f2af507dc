// What a committer has seen of the log, in the words of its law. Not safe for concurrent use.
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

  // Takes a version that was read or committed, and says what it tells since the one before, for OnVersionSeen. `ours`:
  // producers of this committer, since those of others are what the law wants to know of. At first sight a whole version
  // tells a crowd, by what came in with its newest entry; a glimpse has no times.
  CommitLaw::Seen See(const Manifest& version, const std::unordered_set<std::string>& ours);
  CommitLaw::Seen See(const ManifestGlimpse& version, const std::unordered_set<std::string>& ours);

 private:
  CommitLaw::Seen Advance(const Manifest& version, const std::vector<std::string>& recent,
                          const std::unordered_set<std::string>& ours);

  Version version_{};
  Step end_{};
};

}  // namespace batchweave
