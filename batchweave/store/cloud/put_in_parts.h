// A large object goes to the store in parts, several at once.
#pragma once

#include <span>
#include <string_view>

#include "batchweave/store/cloud/cloud_call.h"
#include "batchweave/store/object_store.h"

namespace batchweave {

// As ObjectStore::Put, of `pieces` that are longer than `part_bytes` together. Nobody sees anything of it before it is whole.
// Parts are sent again after kUnavailable, what makes the object of them is not. Where it fails the parts are removed; where
// the process dies before, a rule of the bucket should (docs/decisions/0008-cloud.md).
Result<void> PutInParts(const BwcHandle& handle, const CloudRetry& retry, std::string_view key,
                        std::span<const ByteView> pieces, PutMode mode, uint64_t part_bytes);

}  // namespace batchweave
