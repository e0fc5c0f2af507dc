// Reads one data object from its first byte to its last, and holds it against the entry that names it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/tgb.h"
#include "batchweave/store/object_store.h"

namespace batchweave {

struct PartToVerify {
  TgbIdentity identity;
  const Entry& entry;
  const Part& part;
  std::string key;
};

// The trailers of the part's slices in its layout order, each compared with the content before it; the footer agrees
// with the entry, and its digest with the trailers (I10 of docs/protocol.md). `buffer` is the memory to read through;
// `on_read` is told of bytes as they are read.
// Errors: kCorrupt (the first thing that is wrong, with key and place), kNotFound, kUnavailable, kDenied, kIncompatible.
Result<std::vector<uint64_t>> VerifyPart(ObjectStore& store, const PartToVerify& wanted, MutableByteView buffer,
                                         const std::function<void(uint64_t bytes)>& on_read);

// The digest that an entry must have: over the trailers of its parts, one vector each, put in the layout order of the
// whole grid.
Hash128 DigestOfParts(const Entry& entry, const std::vector<std::vector<uint64_t>>& trailers);

}  // namespace batchweave
