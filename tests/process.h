// What the tests of killed processes share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "batchweave/store/local_store.h"
#include "batchweave/stream/stream.h"
#include "batchweave/stream/verify.h"
#include "batchweave/testing/killing_store.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {

// What a process of its own opens: the directory, the system's clock, chance and threads. Dies where `point` says.
class Process {
 public:
  explicit Process(const std::string& directory, KillPoint point = {})
      : local_(*LocalStore::Open(directory, {.durability = Durability::kNone})), store_(*local_, std::move(point)) {}
  Env env() { return {.store = store_, .clock = clock_, .random = random_, .threads = threads_}; }

 private:
  std::unique_ptr<ObjectStore> local_;
  KillingStore store_;
  SystemClock clock_;
  SystemRandom random_;
  SystemThreads threads_;
};

inline uint64_t NumberIn(const std::optional<Bytes>& cursor) {
  return cursor ? std::stoull(std::string(AsText(*cursor))) : 0;
}

// That the stream "run" has so many steps, and that every byte and version of it is as it should be.
inline void ExpectWhole(const std::string& directory, uint64_t steps) {
  Process process(directory);
  Result<Stream> stream = Stream::Open(process.env(), "run");
  ASSERT_THAT(stream, IsOk());
  const Result<VerifyReport> report = VerifyStream(*stream, {.deep = true});
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->ok()) << report->findings.front().message;
  EXPECT_EQ(report->next_step, Step{steps});
}

}  // namespace batchweave
