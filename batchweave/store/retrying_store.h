// Trying again, where that is safe without knowing why a key is written.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "batchweave/store/backoff.h"
#include "batchweave/store/env.h"

namespace batchweave {

// Tries a call again after kUnavailable, which says that nothing happened: a create too. Never after kUnknownOutcome: who
// commits must read back before anything else. What still fails in the end is returned as it is.
// Safe for concurrent use.
class RetryingStore final : public ObjectStore {
 public:
  // All must outlive the store.
  RetryingStore(ObjectStore& base, Clock& clock, Random& random, RetryPolicy policy = {});

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  // Observers are told of each new start.
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override;

 private:
  ObjectStore& base_;
  Clock& clock_;
  Random& random_;
  const RetryPolicy policy_;
};

// What a try to read `requests` asks for: those that were not read by a try before. `again`: there was one, and their
// observers are told of a new start.
std::vector<ReadRequest*> NotDone(std::span<ReadRequest> requests, bool again);

// Creates `key`, which holds a nonce drawn for just these bytes, so that nobody else can have written it: an unknown
// outcome is resolved by sending the same again, and "exists" means that it is there. For data, archived objects and
// intents; never for a manifest, whose key others want too.
// Errors: kUnavailable and kUnknownOutcome (attempts or time are used up: the very same call may be made again), kDenied,
// kInvalidArgument.
Result<void> PutUnique(Env env, std::string_view key, std::span<const ByteView> pieces, TimePoint deadline,
                       RetryPolicy policy = {});

}  // namespace batchweave
