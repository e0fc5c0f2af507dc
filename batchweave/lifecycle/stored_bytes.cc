#include "batchweave/lifecycle/stored_bytes.h"

#include <optional>

#include "batchweave/format/keys.h"
#include "batchweave/lifecycle/reachable.h"

namespace batchweave {
namespace {

// Versions, placeholders and hints stay for ever, or for as long as the stream.
bool MayLeak(const ParsedKey& key) {
  return key.kind == ParsedKey::Kind::kData || key.kind == ParsedKey::Kind::kArchive ||
         key.kind == ParsedKey::Kind::kIntent || key.kind == ParsedKey::Kind::kOpening;
}

}  // namespace

Result<StoredBytes> CountStored(ManifestLog& log) {
  const LoggedManifest newest = BW_TRY(log.ReadNewest());
  const ReachedKeys reached = BW_TRY(ReachedKeys::Of(log, newest.manifest));
  StoredBytes stored;
  const auto visit = [&](const ListedObject& object) -> Result<void> {
    const std::optional<ParsedKey> key = ParseKey(log.keys(), object.key);
    if (reached.Contains(object.key)) {
      stored.reached += object.size_bytes;
    } else if (!key) {
      stored.not_understood += 1;
    } else if (MayLeak(*key)) {
      stored.leaked += object.size_bytes;
      stored.leaked_keys.push_back(object.key);
    }
    return {};
  };
  BW_TRY(ForEachObject(log.env().store, log.keys().StreamPrefix(), visit));
  return stored;
}

}  // namespace batchweave
