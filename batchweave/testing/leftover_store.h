// A store in whose lists a key stands that nobody may name: versitygw links what overwrites an object under a name of
// its own beside it first, and where it dies at that moment the name stays.
#pragma once

#include <string>
#include <utility>

#include "batchweave/testing/forwarding_store.h"

namespace batchweave {

// As safe for concurrent use as its base, which must refuse the key in all calls but lists, as every store does.
class LeftoverStore final : public ForwardingStore {
 public:
  // `key` comes before all others that its lists show, as ".NAME.sgwtmp.NUMBER" does.
  LeftoverStore(ObjectStore& base, std::string key) : ForwardingStore(base), key_(std::move(key)) {}

  // The key comes alone in its page.
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    if (!key_.starts_with(prefix)) return base().List(prefix, start_after, limit);
    if (start_after.empty()) return ListPage{.objects = {{.key = key_, .size_bytes = 3}}, .next_start_after = key_};
    return base().List(prefix, start_after == key_ ? "" : start_after, limit);
  }

 private:
  const std::string key_;
};

}  // namespace batchweave
