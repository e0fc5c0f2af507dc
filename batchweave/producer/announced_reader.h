// Reads what the producers of other committers have announced, for an attempt that takes it along; and knows afterwards
// which announcements are of no use to anybody any more.
//
// Not safe for concurrent use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/keys.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/producer/commit_law.h"
#include "batchweave/producer/commit_plan.h"

namespace batchweave {

class AnnouncedReader {
 public:
  // `log` must outlive the reader.
  explicit AnnouncedReader(ManifestLog& log) : log_(log) {}

  // Lists all announcements but those of `own` producers. After the first page `goes_on` is asked, with how many there are at
  // least. False: it said no, and nothing is listed. Errors: as ObjectStore::List.
  Result<bool> List(const std::unordered_set<std::string>& own, const std::function<bool(size_t)>& goes_on);

  // The newest announcement of each producer that was listed, and its openings, as many as kAnnouncedBytesMax allows. What
  // cannot be read as an announcement of this stream is left out: it is not for this software. None: one of them was deleted
  // meanwhile, since another committer was first. Errors: as ObjectStore::Get.
  Result<std::optional<Announced>> Read();

  // Both, for an attempt that began at `began` and goes by `law`, which is told where another was first. None: the attempt
  // had better not go on. Errors: as List and Read.
  Result<std::optional<Announced>> ReadFor(CommitLaw& law, TimePoint began, const std::unordered_set<std::string>& own);

  void Clear() { listed_.clear(); }

  // Whose announcements are listed.
  std::vector<std::string> Producers() const;

  // The keys of those listed that no version from `manifest` on takes; it must have the rows of Producers().
  std::vector<std::string> Dead(const Manifest& manifest) const;

 private:
  struct Listed {
    std::string key;
    ParsedKey parsed;
    uint64_t size_bytes = 0;
  };
  std::vector<const Listed*> Choose() const;

  ManifestLog& log_;
  std::vector<Listed> listed_;
};

// What one attempt reads of others' announcements: about what 10,000 producers announce in a second, at a batch in five
// seconds each.
inline constexpr uint64_t kAnnouncedBytesMax = uint64_t{1} << 20;

}  // namespace batchweave
