#include "batchweave/store/temporary_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "batchweave/testing/child_process.h"
#include "batchweave/testing/temporary_directory.h"

namespace batchweave {
namespace {

class TemporaryFileTest : public ::testing::Test {
 protected:
  TemporaryFile MakeUnnamed() {
    int error = 0;
    TemporaryFile file = TemporaryFile::MakeUnnamed(root_.get(), &error);
    EXPECT_EQ(error, 0);
    return file;
  }
  TemporaryFile MakeNamed() {
    int error = 0;
    TemporaryFile file = TemporaryFile::MakeNamed(root_.get(), &error);
    EXPECT_EQ(error, 0);
    return file;
  }
  static void Write(TemporaryFile& file, std::string_view text) {
    const ByteView piece = AsBytes(text);
    EXPECT_EQ(WriteAll(file.fd(), {&piece, 1}), 0);
  }
  static off_t SizeOf(const TemporaryFile& file) {
    struct stat status;
    EXPECT_EQ(fstat(file.fd(), &status), 0);
    return status.st_size;
  }
  size_t FilesIn(const std::string& folder) {
    size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory_.path() + "/" + folder)) {
      ++files;
    }
    return files;
  }

  const TemporaryDirectory directory_{"/dev/shm"};
  const FileDescriptor root_ = OpenAt(AT_FDCWD, directory_.path(), O_RDONLY | O_DIRECTORY);
  SpareFile spare_;
};

TEST_F(TemporaryFileTest, AnUnnamedFileIsSeenOnlyWhenLinked) {
  TemporaryFile file = MakeUnnamed();
  EXPECT_EQ(FilesIn(""), 0u);
  EXPECT_EQ(file.LinkTo(root_.get(), "a"), 0);
  EXPECT_EQ(FilesIn(""), 1u);
  EXPECT_EQ(MakeUnnamed().LinkTo(root_.get(), "a"), EEXIST);
}

TEST_F(TemporaryFileTest, ANamedFileLeavesNothingBehind) {
  EXPECT_EQ(MakeNamed().LinkTo(root_.get(), "a"), 0);
  EXPECT_EQ(MakeNamed().RenameTo(root_.get(), "b"), 0);
  MakeNamed();
  EXPECT_EQ(FilesIn(kTemporaryFolder), 0u);
  EXPECT_EQ(FilesIn(""), 3u);
}

TEST_F(TemporaryFileTest, ASpareIsTakenOnceAndEmpty) {
  TemporaryFile file = MakeUnnamed();
  Write(file, "what lost");
  const int fd = file.fd();
  spare_.Keep(std::move(file));
  const TemporaryFile again = spare_.Take(root_.get());
  EXPECT_EQ(again.fd(), fd);
  EXPECT_EQ(SizeOf(again), 0);
  EXPECT_FALSE(spare_.Take(root_.get()).valid());
}

TEST_F(TemporaryFileTest, AFileThatWasLinkedIsNoSpare) {
  TemporaryFile file = MakeUnnamed();
  ASSERT_EQ(file.LinkTo(root_.get(), "a"), 0);
  // As if a server, asked twice, had answered "exists".
  spare_.Keep(std::move(file));
  EXPECT_FALSE(spare_.Take(root_.get()).valid());
}

TEST_F(TemporaryFileTest, AForkedChildTakesNoSpareOfItsParent) {
  spare_.Keep(MakeUnnamed());
  ChildProcess child([&] { return !spare_.Take(root_.get()).valid(); });
  EXPECT_TRUE(child.Wait());
  EXPECT_TRUE(spare_.Take(root_.get()).valid());
}

TEST_F(TemporaryFileTest, OnlyWhatTheDeadLeftIsRemoved) {
  const TemporaryFile mine = MakeNamed();
  ChildProcess child([&] {
    [[maybe_unused]] static const TemporaryFile left = MakeNamed();
    return true;
  });
  ASSERT_TRUE(child.Wait());
  ASSERT_EQ(FilesIn(kTemporaryFolder), 2u);
  RemoveAbandonedTemporaries(root_.get());
  EXPECT_EQ(FilesIn(kTemporaryFolder), 1u);
}

}  // namespace
}  // namespace batchweave
