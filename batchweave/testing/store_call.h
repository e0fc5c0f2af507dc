// Which calls of a store a test means.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "batchweave/store/object_store.h"

namespace batchweave {

// Bits, so that several can be meant at once: kCreate | kOverwrite.
enum StoreCall : unsigned {
  kCallCreate = 1,
  kCallOverwrite = 2,
  kCallGet = 4,
  kCallRead = 8,
  kCallStat = 16,
  kCallList = 32,
  kCallDelete = 64,
  kCallPut = kCallCreate | kCallOverwrite,
  kCallWrite = kCallPut | kCallDelete,
  kEveryCall = 127,
};

struct CallFilter {
  unsigned calls = kEveryCall;
  // Which keys; of a List, which prefixes. Empty: all. A call that names several keys is meant if one of them is.
  std::function<bool(std::string_view)> key = {};

  bool Means(StoreCall call, std::string_view name) const { return (calls & call) != 0 && (!key || key(name)); }
  bool Means(StoreCall call, std::span<const std::string> names) const {
    for (const std::string& name : names) {
      if (Means(call, name)) return true;
    }
    return false;
  }
  bool Means(StoreCall call, std::span<const ReadRequest> requests) const {
    for (const ReadRequest& request : requests) {
      if (Means(call, request.key)) return true;
    }
    return false;
  }
};

// For CallFilter::key: keys (or prefixes) that have `part` in them.
inline std::function<bool(std::string_view)> KeyContains(std::string part) {
  return [part = std::move(part)](std::string_view key) { return key.find(part) != std::string_view::npos; };
}

inline StoreCall CallOf(PutMode mode) { return mode == PutMode::kCreate ? kCallCreate : kCallOverwrite; }

}  // namespace batchweave
