// The benchmark `publish`: how fast a producer publishes, compared with the least that must be done.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "batchweave/base/check.h"
#include "batchweave/base/hash.h"
#include "batchweave/store/local_file.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "bench/benchmark.h"
#include "bench/measure.h"
#include "bench/sample_stream.h"
#include "bench/workspace.h"

namespace batchweave::bench {
namespace {

constexpr BatchShape kShape{.grid = {.dp = 8, .cp = 1}, .slice_bytes = kMiB};

// Comparisons that share the time.
constexpr int kComparisons = 2;

// A round writes an eighth of what other rounds move: in many a container /dev/shm holds no more than 64 MiB.
uint64_t BatchesOf(const Settings& settings) { return std::max<uint64_t>(settings.data_bytes / 8 / kShape.bytes(), 2); }

// Each batch is committed before the next is published, so that no batch hides another's waits.
Result<Duration> PublishToStore(const Workspace& workspace, const SamplePayload& payload, uint64_t batches) {
  const std::string folder = BW_TRY(workspace.Fresh("stream"));
  Duration took;
  {
    const auto owned = BW_TRY(OpenEnv(folder));
    const Env env = owned->env();
    Stream stream = BW_TRY(Stream::Create(env, "publish"));
    Producer producer = BW_TRY(stream.OpenProducer("writer"));
    BW_TRY(PublishAndCommit(producer, payload.MakeBatch()));  // Starts the threads.
    const TimePoint began = env.clock.Now();
    for (uint64_t i = 0; i < batches; ++i) BW_TRY(PublishAndCommit(producer, payload.MakeBatch()));
    took = env.clock.Now() - began;
  }
  workspace.Remove("stream");
  return took;
}

Error CannotWrite(int code, const std::string& path) {
  return {ErrorCode::kUnavailable,
          fmt::format("cannot write: {}: path={}", std::generic_category().message(code), path)};
}

Result<void> WriteFile(const std::string& path, const SamplePayload& payload) {
  const FileDescriptor file = OpenAt(AT_FDCWD, path, O_CREAT | O_EXCL | O_WRONLY, 0666);
  if (!file.valid()) return CannotWrite(errno, path);
  for (uint32_t dp = 0; dp < kShape.grid.dp; ++dp) {
    ByteView rest = payload.SliceAt({.dp = dp, .cp = 0});
    while (!rest.empty()) {
      const ssize_t size = write(file.get(), rest.data(), rest.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return CannotWrite(size < 0 ? errno : EIO, path);
      rest = rest.subspan(static_cast<size_t>(size));
    }
  }
  return {};
}

Result<Duration> WritePlainly(Clock& clock, const Workspace& workspace, const SamplePayload& payload,
                              uint64_t batches) {
  const std::string folder = BW_TRY(workspace.Fresh("plain"));
  BW_TRY(WriteFile(folder + "/warm", payload));
  const TimePoint began = clock.Now();
  for (uint64_t i = 0; i < batches; ++i) BW_TRY(WriteFile(fmt::format("{}/{:020}", folder, i), payload));
  const Duration took = clock.Now() - began;
  workspace.Remove("plain");
  return took;
}

using Copy = void (*)(ByteView from, MutableByteView to);

void CopyAndHash(ByteView from, MutableByteView to) { BW_CHECK(CopyAndHash64(from, to) != 0); }
void CopyAlone(ByteView from, MutableByteView to) { std::memcpy(to.data(), from.data(), from.size()); }

// Slices that lie behind each other in memory, as batches in a queue do: more than the caches hold, and all pages mapped,
// so that the copying is compared and not what was copied just before, or the system's memory.
Duration CopySlices(Clock& clock, ByteView from, MutableByteView to, Copy copy) {
  const TimePoint began = clock.Now();
  for (size_t at = 0; at < from.size(); at += kShape.slice_bytes) {
    copy(from.subspan(at, kShape.slice_bytes), to.subspan(at, kShape.slice_bytes));
  }
  return clock.Now() - began;
}

Result<Comparison> CompareCopies(Clock& clock, RoundLimits limits, uint64_t size_bytes) {
  const Bytes from(size_bytes, std::byte{1});
  Bytes to(size_bytes);
  return Compare(
      clock, limits, [&] { return CopySlices(clock, from, to, CopyAndHash); },
      [&] { return CopySlices(clock, from, to, CopyAlone); });
}

}  // namespace

Result<Report> RunPublish(const Settings& settings) {
  const Workspace workspace = BW_TRY(Workspace::Make(settings.folder));
  const RoundLimits limits{.rounds_max = settings.rounds_max, .time_max = settings.time_max / kComparisons};
  SystemClock clock;
  SystemRandom random;
  const SamplePayload payload(random, kShape);
  const uint64_t batches = BatchesOf(settings);
  const auto bytes = static_cast<double>(batches * kShape.bytes());
  const uint64_t copied_bytes =
      std::max(settings.data_bytes / 2 / kShape.slice_bytes, uint64_t{8}) * kShape.slice_bytes;
  const Target target{.kind = Target::Kind::kAtLeast, .limit = 0.85};

  Announce("publish and commit of 8 slices of 1 MiB");
  const Comparison published = BW_TRY(Compare(
      clock, limits, [&] { return PublishToStore(workspace, payload, batches); },
      [&] { return WritePlainly(clock, workspace, payload, batches); }));
  Announce("copy and hash");
  const Comparison copied = BW_TRY(CompareCopies(clock, limits, copied_bytes));
  return Report{
      {.key = "ratio_tmpfs",
       .value = published.ratio,
       .target = target,
       .meaning = "speed of publish and commit over that of write(2) of the same bytes into fresh files"},
      {.key = "publish_mib_per_s",
       .value = Speed(bytes, published.candidate),
       .target = {},
       .meaning = "published and committed"},
      {.key = "write_mib_per_s",
       .value = Speed(bytes, published.floor),
       .target = {},
       .meaning = fmt::format("of write(2); {} rounds", published.rounds)},
      {.key = "copy_ratio",
       .value = copied.ratio,
       .target = target,
       .meaning = "speed of copying slices, hashed on the way as SetCopy() does, over that of memcpy"},
      {.key = "copy_mib_per_s",
       .value = Speed(static_cast<double>(copied_bytes), copied.candidate),
       .target = {},
       .meaning = "copied and hashed"},
      {.key = "memcpy_mib_per_s",
       .value = Speed(static_cast<double>(copied_bytes), copied.floor),
       .target = {},
       .meaning = fmt::format("of memcpy; {} rounds", copied.rounds)},
  };
}

}  // namespace batchweave::bench
