#include "batchweave/stream/verify_inventory.h"

#include <utility>

namespace batchweave {
namespace {

void File(const StreamKeys& keys, const ListedObject& object, Inventory& inventory) {
  const std::optional<ParsedKey> parsed = ParseKey(keys, object.key);
  if (!parsed) {
    inventory.unknown_keys.push_back(object.key);
    return;
  }
  if (parsed->kind == ParsedKey::Kind::kManifest) inventory.manifests.emplace(parsed->version, object.key);
  if (parsed->kind == ParsedKey::Kind::kData) inventory.data.emplace(object.key, object.size_bytes);
}

}  // namespace

Result<Inventory> TakeInventory(ObjectStore& store, const StreamKeys& keys,
                                const std::function<void(const VerifyProgress&)>& on_progress) {
  Inventory inventory;
  uint64_t listed = 0;
  BW_TRY(ForEachObject(store, keys.StreamPrefix(), [&](const ListedObject& object) -> Result<void> {
    File(keys, object, inventory);
    ++listed;
    if (on_progress) on_progress({.phase = "objects", .done = listed});
    return {};
  }));
  return inventory;
}

}  // namespace batchweave
