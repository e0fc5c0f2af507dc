#include "batchweave/store/node_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "batchweave/testing/child_process.h"
#include "batchweave/testing/manual_clock.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/private_mounts.h"
#include "batchweave/testing/temporary_directory.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr const char* kFolder = "00000000000000aa";

Bytes Content(uint64_t number, size_t size_bytes) { return Bytes(size_bytes, static_cast<std::byte>(number)); }

NodeCache::Place PlaceOf(uint64_t step) {
  return {.folder = kFolder, .step = step, .id = HashOf128(AsBytes(fmt::format("copy {}", step)))};
}

// What files and folders take there, by the file system's own word.
uint64_t DiskBytes(const std::string& path) {
  uint64_t bytes = 0;
  std::error_code gone;
  for (std::filesystem::recursive_directory_iterator at(path, gone), end; at != end; at.increment(gone)) {
    struct stat status;
    if (lstat(at->path().c_str(), &status) == 0) bytes += static_cast<uint64_t>(status.st_blocks) * 512;
  }
  return bytes;
}

class NodeCacheTest : public ::testing::Test {
 protected:
  std::unique_ptr<NodeCache> Open(uint64_t bytes_max = 64 * kMiB) {
    return NodeCache::Open({.dir = dir_, .bytes_max = bytes_max}, clock_).value();
  }

  static bool Keep(NodeCache& cache, uint64_t step, size_t size_bytes = kMiB) {
    return cache.Keep(PlaceOf(step), Content(step, size_bytes));
  }

  // True where there is the right copy; a wrong one fails the test.
  static bool Has(NodeCache& cache, uint64_t step, size_t size_bytes = kMiB) {
    const std::optional<NodeCache::Copy> copy = cache.Find(PlaceOf(step));
    if (!copy) return false;
    Bytes buffer(copy->size_bytes);
    if (!cache.Read(PlaceOf(step), *copy, buffer, nullptr)) return false;
    EXPECT_TRUE(buffer == Content(step, size_bytes));
    return true;
  }

  std::string PathOf(uint64_t step) const {
    return fmt::format("{}/{}/{:020}-{}", dir_, kFolder, step, ToHex(PlaceOf(step).id));
  }

  const TemporaryDirectory parent_{"/dev/shm"};
  const std::string dir_ = parent_.path() + "/cache";
  ManualClock clock_;
};

TEST_F(NodeCacheTest, TheDirectoryIsMadeAndMustBeTheJobsOwn) {
  Open();
  EXPECT_EQ(std::filesystem::status(dir_).permissions(), std::filesystem::perms::owner_all);
  const auto open = [&](const std::string& dir, uint64_t bytes_max) {
    return NodeCache::Open({.dir = dir, .bytes_max = bytes_max}, clock_);
  };
  EXPECT_THAT(open(parent_.path() + "/no/such", kMiB * 64), IsError(ErrorCode::kNotFound, HasSubstr("node_cache_dir")));
  EXPECT_THAT(open(dir_, 1000), IsError(ErrorCode::kInvalidArgument, HasSubstr("node_cache_bytes is at least")));
  std::filesystem::permissions(dir_, std::filesystem::perms::all);
  EXPECT_THAT(open(dir_, kMiB * 64), IsError(ErrorCode::kInvalidArgument, HasSubstr("written by everybody")));
  std::ofstream(parent_.path() + "/file") << "x";
  EXPECT_THAT(open(parent_.path() + "/file", kMiB * 64), IsError(ErrorCode::kInvalidArgument));
}

TEST_F(NodeCacheTest, WhatOneKeepsAnotherFinds) {
  EXPECT_FALSE(Has(*Open(), 1));
  ASSERT_TRUE(Keep(*Open(), 1));
  ASSERT_TRUE(Keep(*Open(), 2, 0));
  EXPECT_TRUE(Has(*Open(), 1));
  EXPECT_TRUE(Has(*Open(), 2, 0));
}

TEST_F(NodeCacheTest, ACopyThatIsDamagedIsRemovedAndNeverGiven) {
  const auto cache = Open();
  constexpr size_t kSize = 10'000;
  ASSERT_TRUE(Keep(*cache, 1, kSize));
  const uint64_t whole = std::filesystem::file_size(PathOf(1));
  const auto damage = [&](const auto& how) {
    ASSERT_TRUE(Keep(*cache, 1, kSize));
    how();
    EXPECT_FALSE(Has(*cache, 1, kSize));
    EXPECT_FALSE(std::filesystem::exists(PathOf(1)));
  };
  for (const uint64_t at : {0u, 8u, 16u, 24u, 32u, 40u, 47u, 48u, 5000u, 10'047u}) {
    damage([&] {
      std::fstream file(PathOf(1), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const char was = static_cast<char>(file.get());
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(was ^ 1));
    });
  }
  for (uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{47}, uint64_t{48}, whole - 1, whole + 1}) {
    damage([&] { std::filesystem::resize_file(PathOf(1), size); });
  }
  // A copy of something else under its name.
  damage([&] {
    ASSERT_TRUE(Keep(*cache, 2, kSize));
    std::filesystem::rename(PathOf(2), PathOf(1));
  });
}

TEST_F(NodeCacheTest, ItIsNeverAboveItsBudgetAndTheOldestStepsGo) {
  constexpr uint64_t kBudget = 20 * kMiB;
  const auto cache = Open(kBudget);
  for (uint64_t step = 1; step <= 200; ++step) {
    ASSERT_TRUE(Keep(*cache, step, step % 3 == 0 ? 100 : 700'000)) << step;
    ASSERT_LE(DiskBytes(dir_), kBudget);
    EXPECT_TRUE(Has(*cache, step, step % 3 == 0 ? 100 : 700'000));
  }
  EXPECT_GT(DiskBytes(dir_), kBudget / 2);
  EXPECT_FALSE(Has(*cache, 100, 700'000));
  EXPECT_TRUE(Has(*cache, 197, 700'000));
  EXPECT_FALSE(Keep(*cache, 201, kBudget));  // For it all others would have to go in vain.
  EXPECT_TRUE(Has(*cache, 199, 700'000));
}

TEST_F(NodeCacheTest, WhoHasASmallerBudgetMakesRoomForItsOwn) {
  const auto large = Open(40 * kMiB);
  const auto small = Open(10 * kMiB);
  for (uint64_t step = 1; step <= 30; ++step) ASSERT_TRUE(Keep(*large, step));
  EXPECT_GT(DiskBytes(dir_), 20 * kMiB);
  ASSERT_TRUE(Keep(*small, 31));
  EXPECT_LE(DiskBytes(dir_), 10 * kMiB);
  for (uint64_t step = 32; step <= 90; ++step) {
    ASSERT_TRUE(Keep(step % 2 == 0 ? *large : *small, step));
    ASSERT_LE(DiskBytes(dir_), step % 2 == 0 ? 40 * kMiB : 10 * kMiB);
  }
}

TEST_F(NodeCacheTest, ManyProcessesAtOnceKeepOneBudget) {
  constexpr uint64_t kBudget = 12 * kMiB;
  const auto fill = [&](uint64_t first) {
    SystemClock clock;
    const auto cache = NodeCache::Open({.dir = dir_, .bytes_max = kBudget}, clock).value();
    for (uint64_t step = first; step < first + 400; step += 4) {
      static_cast<void>(Keep(*cache, step, 300'000));
      if (DiskBytes(dir_) > kBudget) return false;
      static_cast<void>(Has(*cache, step - std::min<uint64_t>(step, 3), 300'000));
    }
    return !HasFailure();
  };
  Open(kBudget);
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (uint64_t child = 0; child < 4; ++child) {
    children.push_back(std::make_unique<ChildProcess>([&, child] { return fill(child); }));
  }
  for (const auto& child : children) EXPECT_TRUE(child->Wait());
  EXPECT_GT(DiskBytes(dir_), kBudget / 2);
}

TEST_F(NodeCacheTest, WhoIsKilledLeavesNothingHarmful) {
  constexpr uint64_t kBudget = 12 * kMiB;
  for (uint64_t round = 0; round < 10; ++round) {
    // What it has kept may be gone again when we look.
    const std::string mark = fmt::format("{}/round-{}", parent_.path(), round);
    ChildProcess writer([&] {
      const auto cache = Open(kBudget);
      for (uint64_t step = 0;; ++step) {
        static_cast<void>(Keep(*cache, round * 1000 + step));
        if (step == 3) std::ofstream(mark) << "x";
      }
      return true;
    });
    while (!std::filesystem::exists(mark)) {
    }
    writer.Kill();
    const auto cache = Open(kBudget);
    for (uint64_t step = 0; step < 50; ++step) static_cast<void>(Has(*cache, round * 1000 + step));
    for (uint64_t step = 100; step < 130; ++step) {
      ASSERT_TRUE(Keep(*cache, round * 1000 + step));
      ASSERT_LE(DiskBytes(dir_), kBudget);
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_ + "/.tmp"));
}

// Of a process that has made room and not written yet.
TEST_F(NodeCacheTest, WhatIsBeingWrittenCounts) {
  constexpr uint64_t kBudget = 12 * kMiB;
  const auto cache = Open(kBudget);
  const FileDescriptor root = OpenAt(AT_FDCWD, dir_, O_RDONLY | O_DIRECTORY);
  int error = 0;
  const TemporaryFile other = TemporaryFile::MakeNamed(root.get(), &error);
  ASSERT_EQ(error, 0);
  ASSERT_EQ(posix_fallocate(other.fd(), 0, 6 * kMiB), 0);
  for (uint64_t step = 1; step < 30; ++step) {
    ASSERT_TRUE(Keep(*cache, step));
    std::filesystem::remove(dir_ + "/usage");
    ASSERT_LE(DiskBytes(dir_), kBudget);
  }
}

TEST_F(NodeCacheTest, WhatItThinksThatItTakesMayBeWrong) {
  constexpr uint64_t kBudget = 12 * kMiB;
  const auto cache = Open(kBudget);
  for (uint64_t step = 1; step <= 9; ++step) ASSERT_TRUE(Keep(*cache, step));
  for (const char* text : {"", "short", "sixteen bytes!!!", "more than sixteen bytes"}) {
    std::ofstream(dir_ + "/usage") << text;
    ASSERT_TRUE(Keep(*cache, 100));
    ASSERT_LE(DiskBytes(dir_), kBudget);
  }
  std::filesystem::remove(dir_ + "/usage");
  for (uint64_t step = 101; step < 120; ++step) {
    ASSERT_TRUE(Keep(*cache, step));
    ASSERT_LE(DiskBytes(dir_), kBudget);
  }
  // Somebody empties it: it fills again.
  std::filesystem::remove_all(dir_ + "/" + kFolder);
  for (uint64_t step = 121; step < 140; ++step) ASSERT_TRUE(Keep(*cache, step));
  EXPECT_GT(DiskBytes(dir_), kBudget / 2);
}

TEST_F(NodeCacheTest, OnAFullDiskItHoldsWhatThereIsRoomFor) {
  if (!EnterPrivateMounts()) GTEST_SKIP() << "nothing may be mounted here";
  const ScopedMount mount = ScopedMount::Tmpfs(parent_.path(), 10 * kMiB);
  ASSERT_TRUE(mount.mounted());
  const auto cache = Open(64 * kMiB);
  for (uint64_t step = 1; step <= 50; ++step) {
    EXPECT_TRUE(Keep(*cache, step)) << step;
    EXPECT_TRUE(Has(*cache, step)) << step;
  }
  // Somebody else takes all the rest, and what it gives back.
  std::ofstream hog(parent_.path() + "/hog");
  const std::string block(kMiB, 'x');
  for (int i = 0; i < 20; ++i) hog << block << std::flush;
  for (uint64_t step = 51; step <= 60; ++step) {
    static_cast<void>(Keep(*cache, step));
    static_cast<void>(Has(*cache, step));
  }
}

TEST_F(NodeCacheTest, ADirectoryThatGoesAwayIsDoneWithout) {
  const auto cache = Open();
  ASSERT_TRUE(Keep(*cache, 1));
  std::filesystem::remove_all(dir_);
  EXPECT_FALSE(Has(*cache, 1));
  EXPECT_FALSE(Keep(*cache, 2));
  EXPECT_EQ(cache->TryLock({}).state, NodeCache::LockState::kNone);
  cache->TellAbsence(kFolder, {});
  EXPECT_FALSE(cache->LastAbsence(kFolder).has_value());
  EXPECT_FALSE(std::filesystem::exists(dir_));
}

TEST_F(NodeCacheTest, ALockIsOnesAndGoesWithItsProcess) {
  const auto cache = Open();
  const Hash128 id = PlaceOf(1).id;
  {
    const NodeCache::LockTry ours = cache->TryLock(id);
    ASSERT_EQ(ours.state, NodeCache::LockState::kOurs);
    EXPECT_EQ(cache->TryLock(id).state, NodeCache::LockState::kTheirs);
    EXPECT_EQ(Open()->TryLock(id).state, NodeCache::LockState::kTheirs);
    EXPECT_EQ(cache->TryLock(PlaceOf(2).id).state, NodeCache::LockState::kOurs);
  }
  ChildProcess holder([&] {
    const NodeCache::LockTry theirs = cache->TryLock(id);
    raise(SIGSTOP);
    return theirs.state == NodeCache::LockState::kOurs;
  });
  ASSERT_TRUE(holder.AwaitStopped());
  EXPECT_EQ(cache->TryLock(id).state, NodeCache::LockState::kTheirs);
  holder.Kill();
  EXPECT_EQ(cache->TryLock(id).state, NodeCache::LockState::kOurs);
}

TEST_F(NodeCacheTest, TheLastAskingInVainIsKnownToAll) {
  const auto cache = Open();
  EXPECT_FALSE(cache->LastAbsence(kFolder).has_value());
  cache->TellAbsence(kFolder, {.id = PlaceOf(1).id, .asking = 7});
  ASSERT_TRUE(Open()->LastAbsence(kFolder).has_value());
  EXPECT_EQ(Open()->LastAbsence(kFolder)->id, PlaceOf(1).id);
  EXPECT_EQ(Open()->LastAbsence(kFolder)->asking, 7u);
  std::fstream(dir_ + "/absences", std::ios::in | std::ios::out).seekp(0) << std::string(1 << 14, 'x');
  EXPECT_FALSE(Open()->LastAbsence(kFolder).has_value());
}

}  // namespace
}  // namespace batchweave
