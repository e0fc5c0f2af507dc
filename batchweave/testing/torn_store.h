// A store that makes one read of two requests, between which the object is overwritten: the beginning of what was there,
// the end of what is there now (fault M18).
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "batchweave/testing/forwarding_store.h"

namespace batchweave {

struct Tear {
  std::string key;                // Its first Read, or Get of one range, is torn.
  size_t at_bytes = 0;            // Where the second request of a Read begins.
  std::function<void()> between;  // What happens between the two requests, or right after the Get.
};

// Not safe for concurrent use.
class TornStore final : public ForwardingStore {
 public:
  // `base` must outlive the store.
  TornStore(ObjectStore& base, Tear tear) : ForwardingStore(base), tear_(std::move(tear)) {}

  bool torn() const { return torn_; }

  Result<Bytes> Read(std::string_view key) override {
    Bytes first = BW_TRY(base().Read(key));
    if (torn_ || key != tear_.key) return first;
    Interrupt();
    const Bytes second = BW_TRY(base().Read(key));
    first.resize(tear_.at_bytes);
    if (second.size() > first.size()) {
      first.insert(first.end(), second.begin() + static_cast<std::ptrdiff_t>(first.size()), second.end());
    }
    return first;
  }
  Result<void> Get(std::span<ReadRequest> requests) override {
    BW_TRY(base().Get(requests));
    if (!torn_ && requests.front().key == tear_.key) Interrupt();
    return {};
  }

 private:
  void Interrupt() {
    torn_ = true;
    tear_.between();
  }

  const Tear tear_;
  bool torn_ = false;
};

}  // namespace batchweave
