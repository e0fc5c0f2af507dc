#include "batchweave/store/local_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <vector>

#include "batchweave/testing/matchers.h"
#include "batchweave/testing/temporary_directory.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

// Covers A3, A7.
TEST(LocalErrorTest, NoFailureOfAWriteIsTakenForALostRace) {
  for (const int code : {ENOSPC, EDQUOT, EROFS, EACCES, EPERM, EFBIG, EXDEV, EMLINK, EOPNOTSUPP}) {
    EXPECT_EQ(WriteError(code, "cannot write", "p").code, ErrorCode::kDenied) << code;
    EXPECT_EQ(CommitError(code, "cannot link", "p").code, ErrorCode::kDenied) << code;
  }
  for (const int code : {ENOTDIR, EISDIR, ENAMETOOLONG}) {
    EXPECT_EQ(WriteError(code, "cannot write", "p").code, ErrorCode::kInvalidArgument) << code;
  }
  for (const int code : {EIO, ESTALE, ETIMEDOUT, EMFILE, ENFILE, ENOMEM, EAGAIN, EBUSY, EEXIST}) {
    EXPECT_EQ(WriteError(code, "cannot write", "p").code, ErrorCode::kUnavailable) << code;
  }
}

// Covers A3.
TEST(LocalErrorTest, WhatMayHaveHappenedIsUnknown) {
  for (const int code : {EIO, ESTALE, ETIMEDOUT, EINTR, EBUSY}) {
    EXPECT_EQ(CommitError(code, "cannot link", "p").code, ErrorCode::kUnknownOutcome) << code;
  }
  for (const int code : {EMFILE, ENFILE, ENOMEM}) {
    EXPECT_EQ(CommitError(code, "cannot link", "p").code, ErrorCode::kUnavailable) << code;
  }
}

TEST(LocalErrorTest, AReadThatFailsMayBeTriedAgainUnlessForbidden) {
  EXPECT_EQ(ReadError(EIO, "cannot read", "p").code, ErrorCode::kUnavailable);
  EXPECT_EQ(ReadError(EMFILE, "cannot read", "p").code, ErrorCode::kUnavailable);
  EXPECT_EQ(ReadError(EACCES, "cannot read", "p").code, ErrorCode::kDenied);
}

TEST(LocalErrorTest, SaysWhatWhyAndWhere) {
  EXPECT_EQ(WriteError(ENOSPC, "cannot write", "/runs/a").message, "cannot write: the disk is full: path=/runs/a");
  EXPECT_THAT(WriteError(EIO, "cannot write", "/runs/a").message, HasSubstr("Input/output error"));
}

TEST(FileDescriptorTest, ClosesWhatItOwns) {
  const TemporaryDirectory directory;
  FileDescriptor file = OpenAt(AT_FDCWD, directory.path(), O_RDONLY);
  ASSERT_TRUE(file.valid());
  const int fd = file.get();
  FileDescriptor moved = std::move(file);
  EXPECT_GE(fcntl(fd, F_GETFD), 0);
  EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  moved = FileDescriptor();
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

TEST(WriteAllTest, ThereMayBeMorePiecesThanOneCallTakes) {
  const TemporaryDirectory directory;
  const FileDescriptor file = OpenAt(AT_FDCWD, directory.path() + "/f", O_CREAT | O_WRONLY, 0600);
  const std::vector<ByteView> pieces(3000, AsBytes("0123456789"));
  ASSERT_EQ(WriteAll(file.get(), pieces), 0);
  struct stat status;
  ASSERT_EQ(fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_size, 30'000);
}

// One call takes 2 GiB less a page. Nobody looks at the bytes: they need no memory, and /dev/null no disk.
TEST(WriteAllTest, APieceMayBeLargerThanOneCallTakes) {
  constexpr size_t kSize = size_t{5} << 30;
  void* const memory = mmap(nullptr, kSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const FileDescriptor nowhere = OpenAt(AT_FDCWD, "/dev/null", O_WRONLY);
  const ByteView all(static_cast<const std::byte*>(memory), kSize);
  const std::vector<ByteView> pieces = {all.first(10), all, all.first(10)};
  EXPECT_EQ(WriteAll(nowhere.get(), pieces), 0);
  munmap(memory, kSize);
}

TEST(WriteAllTest, AFullDeviceIsToldAsSuch) {
  const FileDescriptor full = OpenAt(AT_FDCWD, "/dev/full", O_WRONLY);
  const ByteView piece = AsBytes("text");
  EXPECT_EQ(WriteAll(full.get(), {&piece, 1}), ENOSPC);
  EXPECT_EQ(WriteAll(full.get(), {}), 0);
}

}  // namespace
}  // namespace batchweave
