// What lies in the store under one stream, by one LIST.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/keys.h"
#include "batchweave/store/object_store.h"
#include "batchweave/stream/verify.h"

namespace batchweave {

struct Inventory {
  std::map<Version, std::string> manifests;        // Keys of the occupied slots.
  std::unordered_map<std::string, uint64_t> data;  // Bytes of each data object, by key.
  std::vector<std::string> unknown_keys;           // Under the stream, and not of a kind that this software writes.

  Version newest() const { return manifests.empty() ? Version{} : manifests.rbegin()->first; }
};

// What is created meanwhile may be missing. Errors: kUnavailable, kDenied.
Result<Inventory> TakeInventory(ObjectStore& store, const StreamKeys& keys,
                                const std::function<void(const VerifyProgress&)>& on_progress);

}  // namespace batchweave
