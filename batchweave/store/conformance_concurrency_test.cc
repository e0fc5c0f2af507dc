// Every store that this folder makes passes the suite of testing/conformance.h.
#include <gtest/gtest.h>

#include <memory>

#include "batchweave/store/local_store.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/store/node_cache_store.h"
#include "batchweave/store/retrying_store.h"
#include "batchweave/testing/conformance.h"
#include "batchweave/testing/manual_clock.h"
#include "batchweave/testing/private_mounts.h"
#include "batchweave/testing/seeded_random.h"
#include "batchweave/testing/temporary_directory.h"

namespace batchweave {
namespace {

using ::testing::Values;

class MemoryUnderTest final : public StoreUnderTest {
 public:
  explicit MemoryUnderTest(MemoryStoreOptions options) : store_(options) {}
  ObjectStore& store() override { return store_; }

 private:
  MemoryStore store_;
};

// The wrappers around a store in memory, each in turn around the one before.
class WrappedUnderTest final : public StoreUnderTest {
 public:
  ObjectStore& store() override { return retrying_; }

 private:
  MemoryStore memory_;
  MeteredStore metered_{memory_};
  ManualClock clock_;
  SeededRandom random_{1};
  RetryingStore retrying_{metered_, clock_, random_};
};

class CachedUnderTest final : public StoreUnderTest {
 public:
  ObjectStore& store() override { return cached_; }

 private:
  TemporaryDirectory directory_{"/dev/shm"};
  ManualClock clock_;
  SeededRandom random_{1};
  NodeCacheStore cached_{std::make_unique<MemoryStore>(),
                         NodeCache::Open({.dir = directory_.path()}, clock_).value(),
                         "store",
                         [](std::string_view) { return true; },
                         clock_,
                         random_};
};

class LocalUnderTest final : public StoreUnderTest {
 public:
  LocalUnderTest(const std::string& parent, LocalStoreOptions options)
      : directory_(parent), store_(LocalStore::Open(directory_.path(), options).value()) {}
  ObjectStore& store() override { return *store_; }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<ObjectStore> store_;
};

// On an overlay, as containers have it, above a tmpfs.
class OverlayUnderTest final : public StoreUnderTest {
 public:
  // Null where the system lets nobody mount.
  static std::unique_ptr<StoreUnderTest> Make(LocalStoreOptions options) {
    static const bool may_mount = EnterPrivateMounts();
    if (!may_mount) return nullptr;
    auto made = std::unique_ptr<OverlayUnderTest>(new OverlayUnderTest(options));
    if (made->store_ == nullptr) return nullptr;
    return made;
  }
  ObjectStore& store() override { return *store_; }

 private:
  explicit OverlayUnderTest(LocalStoreOptions options)
      : layers_(ScopedMount::Tmpfs(directory_.path(), size_t{64} << 20)),
        overlay_(ScopedMount::Overlay(directory_.path())) {
    if (overlay_.mounted()) store_ = LocalStore::Open(overlay_.path(), options).value();
  }

  TemporaryDirectory directory_;
  ScopedMount layers_;
  ScopedMount overlay_;
  std::unique_ptr<ObjectStore> store_;
};

constexpr LocalStoreOptions kSynced = {.durability = Durability::kFull};
constexpr LocalStoreOptions kUnsynced = {.durability = Durability::kNone};
constexpr LocalStoreOptions kNamed = {.durability = Durability::kFull, .unnamed_temporaries = false};
constexpr LocalStoreOptions kNamedUnsynced = {.durability = Durability::kNone, .unnamed_temporaries = false};

ConformanceCase Memory(const char* name, MemoryStoreOptions options) {
  return {name, [options] { return std::make_unique<MemoryUnderTest>(options); }};
}

ConformanceCase Local(const char* name, const char* parent, LocalStoreOptions options) {
  return {name, [=] { return std::make_unique<LocalUnderTest>(parent, options); }};
}

ConformanceCase Overlay(const char* name, LocalStoreOptions options) {
  return {name, [options] { return OverlayUnderTest::Make(options); }};
}

INSTANTIATE_TEST_SUITE_P(Memory, ObjectStoreConformance,
                         Values(Memory("ordered", {.ordered_list = true}), Memory("unordered", {.ordered_list = false}),
                                ConformanceCase{"wrapped", [] { return std::make_unique<WrappedUnderTest>(); }},
                                ConformanceCase{"cached", [] { return std::make_unique<CachedUnderTest>(); }}),
                         CaseName);

// In the system's folder for temporaries: ext4 mostly, an overlay in a container.
// Covers B6, B7.
INSTANTIATE_TEST_SUITE_P(LocalOnDisk, ObjectStoreConformance,
                         Values(Local("synced", "", kSynced), Local("unsynced", "", kUnsynced),
                                Local("named", "", kNamed)),
                         CaseName);

INSTANTIATE_TEST_SUITE_P(LocalOnTmpfs, ObjectStoreConformance,
                         Values(Local("synced", "/dev/shm", kSynced), Local("unsynced", "/dev/shm", kUnsynced),
                                Local("named", "/dev/shm", kNamedUnsynced)),
                         CaseName);

INSTANTIATE_TEST_SUITE_P(LocalOnOverlay, ObjectStoreConformance,
                         Values(Overlay("synced", kSynced), Overlay("named", kNamed)), CaseName);

}  // namespace
}  // namespace batchweave
