// What every store must do, as tests: the contract of object_store.h, by example. A store passes it by
//
//   INSTANTIATE_TEST_SUITE_P(Memory, ObjectStoreConformance, Values(ConformanceCase{"ordered", MakeMemory}), CaseName);
//
// in a test that links batchweave::conformance. The tests use threads: label it concurrency.
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "batchweave/store/object_store.h"

namespace batchweave {

// An empty store, and all that it stands on.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  virtual ObjectStore& store() = 0;
};

struct ConformanceCase {
  std::string name;
  // Null where this machine cannot have such a store: its tests are skipped.
  std::function<std::unique_ptr<StoreUnderTest>()> make;
  size_t prefix_bytes = 0;  // At most what the store puts before a key: S3 counts it.
};

inline void PrintTo(const ConformanceCase& item, std::ostream* out) { *out << item.name; }
inline std::string CaseName(const ::testing::TestParamInfo<ConformanceCase>& info) { return info.param.name; }

class ObjectStoreConformance : public ::testing::TestWithParam<ConformanceCase> {
 protected:
  void SetUp() override;

  ObjectStore& store() { return under_test_->store(); }

  Result<void> Create(std::string_view key, std::string_view text);
  Result<void> Overwrite(std::string_view key, std::string_view text);
  Result<std::string> Read(std::string_view key);
  // At most `size` bytes from `offset`.
  Result<std::string> ReadRange(std::string_view key, uint64_t offset, size_t size);
  // All keys below `prefix`, in the order of the store, by pages of at most `limit`.
  Result<std::vector<std::string>> Keys(std::string_view prefix, size_t limit);

 private:
  std::unique_ptr<StoreUnderTest> under_test_;
};

// Runs `body(0)`, `body(1)`... each on its own thread, all begun together.
template <typename Body>
void RunTogether(int count, Body body) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace batchweave
