// An Env for tests: a clock that nobody waits for, chance from a seed, real threads, over any store.
#pragma once

#include "batchweave/store/env.h"
#include "batchweave/testing/manual_clock.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {

// Must outlive what is opened on it.
struct TestEnv {
  explicit TestEnv(uint64_t seed = 1, UnfinishedUploads* of_store = nullptr) : random(seed), uploads(of_store) {}
  Env Over(ObjectStore& store) {
    return {.store = store, .clock = clock, .random = random, .threads = threads, .uploads = uploads};
  }

  ManualClock clock;
  SeededRandom random;
  SystemThreads threads;
  UnfinishedUploads* uploads;
};

}  // namespace batchweave
