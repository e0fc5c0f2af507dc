#include "batchweave/store/local_store.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <vector>

#include "batchweave/testing/child_process.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/private_mounts.h"
#include "batchweave/testing/temporary_directory.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

constexpr LocalStoreOptions kUnsynced = {.durability = Durability::kNone};

Result<void> Create(ObjectStore& store, std::string_view key, std::string_view text = "text") {
  return PutBytes(store, key, AsBytes(text), PutMode::kCreate);
}

Result<void> Overwrite(ObjectStore& store, std::string_view key, std::string_view text = "text") {
  return PutBytes(store, key, AsBytes(text), PutMode::kOverwrite);
}

class LocalStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<ObjectStore> Open(LocalStoreOptions options = {}) {
    return LocalStore::Open(directory_.path(), options).value();
  }
  std::string PathOf(std::string_view key) const { return directory_.path() + "/" + std::string(key); }
  void Remove() { std::filesystem::remove_all(directory_.path()); }

  const TemporaryDirectory directory_{"/dev/shm"};
};

TEST_F(LocalStoreTest, ADirectoryMustExist) {
  std::ofstream(PathOf("file")) << "x";
  EXPECT_THAT(LocalStore::Open(PathOf("missing")), IsError(ErrorCode::kNotFound, HasSubstr("no such directory")));
  EXPECT_THAT(LocalStore::Open(PathOf("file")), IsError(ErrorCode::kNotFound, HasSubstr("not a directory")));
  EXPECT_FALSE(std::filesystem::exists(PathOf("missing")));
}

TEST_F(LocalStoreTest, AKeyIsThePathOfAFile) {
  ASSERT_THAT(Create(*Open(), "a/b", "text"), IsOk());
  std::ifstream file(PathOf("a/b"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "text");
  EXPECT_THAT(Open()->Stat("a/b"), IsOkAndHolds(4u));
}

TEST_F(LocalStoreTest, AKeyBelowAnotherIsRefused) {
  for (const Durability durability : {Durability::kFull, Durability::kNone}) {
    const auto store = Open({.durability = durability});
    ASSERT_THAT(Overwrite(*store, "a/b"), IsOk());
    EXPECT_THAT(Create(*store, "a/b/c"), IsError(ErrorCode::kInvalidArgument));
    EXPECT_THAT(Create(*store, "a"), IsError(ErrorCode::kInvalidArgument));
    EXPECT_THAT(Overwrite(*store, "a"), IsError(ErrorCode::kInvalidArgument));
  }
}

TEST_F(LocalStoreTest, EmptyFoldersGoWithTheirLastObject) {
  const auto store = Open();
  ASSERT_THAT(Create(*store, "a/b/c/d"), IsOk());
  ASSERT_THAT(Create(*store, "a/x"), IsOk());
  const std::vector<std::string> keys = {"a/b/c/d"};
  ASSERT_THAT(store->Delete(keys), IsOk());
  EXPECT_FALSE(std::filesystem::exists(PathOf("a/b")));
  EXPECT_TRUE(std::filesystem::exists(PathOf("a/x")));
}

TEST_F(LocalStoreTest, ListsOnlyWhatCouldBeAKey) {
  const auto store = Open({.unnamed_temporaries = false});
  ASSERT_THAT(Create(*store, "a/b"), IsOk());
  std::ofstream(PathOf("a/.nfs0001")) << "x";
  std::ofstream(PathOf(".tmp/0123")) << "x";
  std::ofstream(PathOf("a/" + std::string(kKeyComponentBytesMax + 1, 'x'))) << "x";
  std::filesystem::create_directories(PathOf("empty/folder"));
  const std::vector<ListedObject> objects = store->List("", "", 10)->objects;
  EXPECT_EQ(objects, (std::vector<ListedObject>{{"a/b", 4}}));
}

TEST_F(LocalStoreTest, TemporariesOfTheDeadAreRemovedAtOpening) {
  std::filesystem::create_directories(PathOf(".tmp"));
  std::ofstream(PathOf(".tmp/0123")) << "x";
  Open();
  EXPECT_TRUE(std::filesystem::is_empty(PathOf(".tmp")));
}

// Covers A7.
TEST_F(LocalStoreTest, ADirectoryThatVanishedIsDeniedAndNeverMadeAnew) {
  for (const Durability durability : {Durability::kFull, Durability::kNone}) {
    const TemporaryDirectory directory("/dev/shm");
    const auto store = LocalStore::Open(directory.path(), {.durability = durability}).value();
    ASSERT_THAT(Create(*store, "a/b"), IsOk());
    std::filesystem::remove_all(directory.path());
    const auto gone = IsError(ErrorCode::kDenied, HasSubstr("directory was removed"));
    EXPECT_THAT(Create(*store, "a/b"), gone);
    EXPECT_THAT(Create(*store, "b"), gone);
    EXPECT_THAT(Overwrite(*store, "a/b"), gone);
    EXPECT_THAT(store->Read("a/b"), gone);
    EXPECT_THAT(store->List("", "", 10), gone);
    EXPECT_THAT(store->Delete({}), gone);
    EXPECT_FALSE(std::filesystem::exists(directory.path()));
  }
}

TEST_F(LocalStoreTest, AFolderThatVanishedIsMadeAnew) {
  for (const Durability durability : {Durability::kFull, Durability::kNone}) {
    const auto store = Open({.durability = durability});
    ASSERT_THAT(Create(*store, "a/b/c"), IsOk());
    std::filesystem::remove_all(PathOf("a"));
    EXPECT_THAT(Create(*store, "a/b/c"), IsOk());
    std::filesystem::remove_all(PathOf("a"));
    EXPECT_THAT(Overwrite(*store, "a/b/c"), IsOk());
    std::filesystem::remove_all(PathOf("a"));
  }
}

// Root may write anywhere, so the child is nobody.
// Covers A7.
TEST_F(LocalStoreTest, AFolderWithoutPermissionIsDenied) {
  const auto store = Open();
  ASSERT_THAT(Create(*store, "a/b"), IsOk());
  std::filesystem::permissions(PathOf("a"), std::filesystem::perms{0555});
  std::filesystem::permissions(directory_.path(), std::filesystem::perms{0555});
  ChildProcess child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return false;
    const std::vector<std::string> keys = {"a/b"};
    return FailedWith(Create(*store, "a/c"), ErrorCode::kDenied) &&
           FailedWith(Create(*store, "x/y"), ErrorCode::kDenied) &&
           FailedWith(Overwrite(*store, "a/b"), ErrorCode::kDenied) &&
           FailedWith(store->Delete(keys), ErrorCode::kDenied) && store->Read("a/b").ok();
  });
  EXPECT_TRUE(child.Wait());
  std::filesystem::permissions(directory_.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(PathOf("a"), std::filesystem::perms{0755});
}

// Covers A7.
TEST_F(LocalStoreTest, AReadOnlyFileSystemIsDenied) {
  if (!EnterPrivateMounts()) GTEST_SKIP() << "nothing may be mounted here";
  ASSERT_THAT(Create(*Open(), "a/b"), IsOk());
  const ScopedMount mount = ScopedMount::ReadOnly(directory_.path());
  ASSERT_TRUE(mount.mounted());
  const auto store = Open();
  const auto denied = IsError(ErrorCode::kDenied, HasSubstr("read-only"));
  EXPECT_THAT(Create(*store, "a/c"), denied);
  EXPECT_THAT(Create(*store, "a/b"), IsError(ErrorCode::kAlreadyExists));
  EXPECT_THAT(Overwrite(*store, "a/b"), denied);
  const std::vector<std::string> keys = {"a/b"};
  EXPECT_THAT(store->Delete(keys), denied);
  EXPECT_THAT(store->Read("a/b"), IsOk());
}

// Covers A7.
TEST_F(LocalStoreTest, AFullDiskIsDeniedAndLeavesNothing) {
  if (!EnterPrivateMounts()) GTEST_SKIP() << "nothing may be mounted here";
  const ScopedMount mount = ScopedMount::Tmpfs(directory_.path(), size_t{1} << 20);
  ASSERT_TRUE(mount.mounted());
  const auto store = Open();
  const std::string large(size_t{2} << 20, 'x');
  const auto full = IsError(ErrorCode::kDenied, HasSubstr("disk is full"));
  ASSERT_THAT(Create(*store, "a/kept"), IsOk());
  EXPECT_THAT(Create(*store, "a/large", large), full);
  EXPECT_THAT(Overwrite(*store, "a/kept", large), full);
  EXPECT_EQ(AsText(*store->Read("a/kept")), "text");
  EXPECT_EQ(store->List("", "", 10)->objects.size(), 1u);
  // And the room is free again.
  EXPECT_THAT(Create(*store, "a/other", std::string(size_t{1} << 19, 'x')), IsOk());
}

// Covers A7.
TEST_F(LocalStoreTest, AFileLargerThanTheLimitOfTheProcessIsDenied) {
  ChildProcess child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    const auto store = Open();
    return FailedWith(Create(*store, "a/b", std::string(5000, 'x')), ErrorCode::kDenied) &&
           FailedWith(store->Stat("a/b"), ErrorCode::kNotFound) && Create(*store, "a/b", "short").ok();
  });
  EXPECT_TRUE(child.Wait());
}

// Covers A7.
TEST_F(LocalStoreTest, TooManyOpenFilesIsForLater) {
  const auto store = Open();
  ASSERT_THAT(Create(*store, "a/b"), IsOk());
  ChildProcess child([&] {
    const rlimit limit = {.rlim_cur = 0, .rlim_max = 0};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    return FailedWith(Create(*store, "a/c"), ErrorCode::kUnavailable) &&
           FailedWith(Overwrite(*store, "a/b"), ErrorCode::kUnavailable) &&
           FailedWith(store->Read("a/b"), ErrorCode::kUnavailable) &&
           FailedWith(store->List("", "", 10), ErrorCode::kUnavailable) &&
           FailedWith(Create(*store, "a/b"), ErrorCode::kAlreadyExists);
  });
  EXPECT_TRUE(child.Wait());
}

// Covers B6.
TEST_F(LocalStoreTest, OfTwoRacingProcessesOneCreates) {
  constexpr int kRounds = 200;
  const auto store = Open(kUnsynced);
  const auto create_all = [&](char name) {
    for (int round = 0; round < kRounds; ++round) {
      const Result<void> created = Create(*store, "a/" + std::to_string(round), std::string(100, name));
      if (created.ok() ? !Create(*store, "won/" + std::to_string(round) + "-" + name, "").ok()
                       : !FailedWith(created, ErrorCode::kAlreadyExists)) {
        return false;
      }
    }
    return true;
  };
  ChildProcess one([&] { return create_all('1'); });
  ChildProcess two([&] { return create_all('2'); });
  EXPECT_TRUE(one.Wait());
  EXPECT_TRUE(two.Wait());
  const std::vector<ListedObject> won = store->List("won/", "", 1000)->objects;
  EXPECT_EQ(won.size(), size_t{kRounds});
  for (const ListedObject& object : won) {
    const std::string round = object.key.substr(4, object.key.size() - 6);
    EXPECT_EQ(AsText(*store->Read("a/" + round)), std::string(100, object.key.back()));
  }
}

TEST_F(LocalStoreTest, AKilledWriterLeavesNothingOfItsObject) {
  const std::string large(size_t{8} << 20, 'x');
  for (int round = 0; round < 10; ++round) {
    ChildProcess writer([&] {
      const auto store = Open({.durability = Durability::kNone, .unnamed_temporaries = round % 2 == 0});
      for (int i = 0;; ++i) static_cast<void>(Create(*store, "a/" + std::to_string(i), large));
      return true;
    });
    while (!Open()->Stat("a/1").ok()) {
    }
    writer.Kill();
    const std::vector<ListedObject> left = Open()->List("a/", "", 1000)->objects;
    for (const ListedObject& object : left) EXPECT_EQ(object.size_bytes, large.size());
    Remove();
    std::filesystem::create_directory(directory_.path());
  }
}

}  // namespace
}  // namespace batchweave
