// Slices of more than 2 GiB: what a signed 32-bit size, or one system call, would cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "batchweave/base/hash.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/temporary_directory.h"
#include "tests/process.h"

namespace batchweave {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr size_t kLargeBytes = 2 * kGiB + 12'345;
constexpr std::string_view kSmall = "behind 2 GiB";
// One copy in the store, which may lie in memory too, and one in the producer, then in the rank.
constexpr uint64_t kStoreBytes = kLargeBytes + kGiB / 4;
constexpr uint64_t kMemoryBytes = 2 * kStoreBytes + kGiB / 2;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kWatched = true;
#elif defined(__has_feature)
constexpr bool kWatched = __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer);
#else
constexpr bool kWatched = false;
#endif

uint64_t NumberInFile(const std::string& path) {
  uint64_t number = 0;
  std::ifstream(path) >> number;
  return number;
}

// Memory that may still be taken: of the machine, and of the container where it has a limit.
uint64_t FreeMemoryBytes() {
  uint64_t kib = 0;
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word && !(word == "MemAvailable:" && file >> kib);) {
  }
  const uint64_t limit = NumberInFile("/sys/fs/cgroup/memory.max");  // "max", or no such file: 0.
  if (limit == 0) return kib * 1024;
  return std::min(kib * 1024, limit - std::min(limit, NumberInFile("/sys/fs/cgroup/memory.current")));
}

bool HasRoom(const std::filesystem::path& folder) {
  std::error_code code;
  const std::filesystem::space_info space = std::filesystem::space(folder, code);
  return !code && space.available >= kStoreBytes;
}

// In memory if it may be: disks write 2 GiB in their own time.
std::string FolderWithRoom() {
  for (const std::filesystem::path& folder :
       {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path()}) {
    if (HasRoom(folder)) return folder;
  }
  return "";
}

// No two words of it are alike.
Bytes MakeLarge() {
  Bytes bytes(kLargeBytes);
  for (uint64_t at = 0, word = 1; at + sizeof(word) <= bytes.size(); at += sizeof(word), word += 0x9e3779b97f4a7c15) {
    std::memcpy(bytes.data() + at, &word, sizeof(word));
  }
  return bytes;
}

// What the rank reads of step 0: the hash of its first slice, and the text of its last.
void ExpectReads(Stream& stream, MeshRank rank, std::optional<Hash128> first, std::optional<std::string_view> last) {
  Result<Consumer> consumer = stream.OpenConsumer({.rank = rank});
  ASSERT_THAT(consumer, IsOk());
  const Result<std::optional<RankBatch>> batch = consumer->Next();
  ASSERT_THAT(batch, IsOk());
  const auto& slices = (*batch)->slices();
  if (first) {
    EXPECT_EQ(slices.front().bytes.size(), kLargeBytes);
    EXPECT_EQ(HashOf128(slices.front().bytes), *first);
  }
  if (last) {
    EXPECT_EQ(AsText(slices.back().bytes), *last);
  }
  EXPECT_EQ(consumer->stats().payload_gets, 1u);
  EXPECT_EQ(consumer->stats().retries, 0u);
}

// Covers I10.
TEST(LargeSliceTest, SliceOfMoreThanTwoGibIsPublishedAndReadWhole) {
  if (kWatched) GTEST_SKIP() << "a sanitizer takes minutes for what it sees in small slices as well";
  const std::string folder = FolderWithRoom();
  if (folder.empty()) GTEST_SKIP() << "no folder has room for " << kStoreBytes << " bytes";
  if (FreeMemoryBytes() < kMemoryBytes) GTEST_SKIP() << "it takes " << kMemoryBytes << " bytes of memory";
  const TemporaryDirectory directory(folder);
  Process process(directory.path());
  Stream stream = *Stream::Create(process.env(), "run");
  Bytes large = MakeLarge();
  const Hash128 hash = HashOf128(large);
  {
    Producer producer = *stream.OpenProducer("a");
    GlobalBatch batch({.dp = 2, .cp = 1});
    ASSERT_THAT(batch.Set({.dp = 0}, std::move(large)), IsOk());
    ASSERT_THAT(batch.Set({.dp = 1}, ToBytes(kSmall)), IsOk());
    ASSERT_THAT(producer.Publish(std::move(batch), {}), IsOk());
    ASSERT_THAT(producer.Finish(), IsOk());
  }
  ExpectReads(stream, {.dp_rank = 1, .dp_size = 2}, std::nullopt, kSmall);
  ExpectReads(stream, {}, hash, kSmall);
}

}  // namespace
}  // namespace batchweave
