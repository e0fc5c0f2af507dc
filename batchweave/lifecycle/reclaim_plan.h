// Dead or alive: what the newest version says of an object that was listed. Pure; docs/protocol.md, "Reclaim", has the
// rules, and why an object that is dead stays dead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batchweave/format/keys.h"
#include "batchweave/format/manifest.h"
#include "batchweave/lifecycle/reachable.h"

namespace batchweave {

enum class Fate {
  kAlive,          // The version reaches it, or a later one may.
  kDead,           // No version from this one on reaches it: a DELETE may come late, twice, or not at all.
  kNotUnderstood,  // No key of ours: never deleted.
};

// Judges by one version.
class ReclaimJudge {
 public:
  // `rows` are those of all producers (ReadRows): without the archived ones their producers would seem to be gone.
  // `reached` is what `newest` reaches.
  ReclaimJudge(const StreamKeys& keys, Manifest newest, std::vector<ProducerRow> rows, ReachedKeys reached);

  // Versions, placeholders and hints of groups are alive. The key need not exist.
  Fate Judge(std::string_view key) const;

  Version version() const { return newest_.version; }

 private:
  const ProducerRow* FindRow(std::string_view producer) const;

  const StreamKeys keys_;
  const Manifest newest_;
  const std::vector<ProducerRow> rows_;
  const ReachedKeys reached_;
};

}  // namespace batchweave
