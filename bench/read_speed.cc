#include "bench/read_speed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/base/hash.h"
#include "batchweave/store/local_file.h"
#include "bench/sample_stream.h"

namespace batchweave::bench {
namespace {

constexpr const char* kStreamName = "read";

// Read before the clock starts: a job reads for hours, so its pool is warm and its pages are mapped.
constexpr uint64_t kWarmSteps = 8;

constexpr uint64_t kCountedStepsMin = 4;

Error CannotRead(int code, const std::string& path) {
  return {ErrorCode::kUnavailable,
          fmt::format("cannot read: {}: path={}", std::generic_category().message(code), path)};
}

}  // namespace

Result<ReadSpeed> ReadSpeed::Make(const Workspace& workspace, uint64_t slice_bytes, uint64_t data_bytes) {
  const std::string root = BW_TRY(workspace.Fresh(fmt::format("read-{}", slice_bytes)));
  std::unique_ptr<OwnedEnv> env = BW_TRY(OpenEnv(root));
  Stream stream = BW_TRY(Stream::Create(env->env(), kStreamName));
  ReadSpeed speed(std::move(env), std::move(stream), slice_bytes, std::max(data_bytes / slice_bytes, kCountedStepsMin));
  const SamplePayload payload(speed.stream_.env().random, {.grid = {.dp = 1, .cp = 1}, .slice_bytes = slice_bytes});
  Producer producer = BW_TRY(speed.stream_.OpenProducer("writer"));
  BW_TRY(PublishSteps(producer, payload, kWarmSteps + speed.counted_steps_));
  BW_TRY(speed.FindFiles(root));
  return speed;
}

ReadSpeed::ReadSpeed(std::unique_ptr<OwnedEnv> env, Stream stream, uint64_t slice_bytes, uint64_t counted_steps)
    : env_(std::move(env)),
      stream_(std::move(stream)),
      slice_bytes_(slice_bytes),
      counted_steps_(counted_steps),
      buffer_(slice_bytes) {}

ReadSpeed::ReadSpeed(ReadSpeed&&) noexcept = default;
ReadSpeed::~ReadSpeed() = default;

// The names of data files begin with incarnation and seq, so their order is that of the steps.
Result<void> ReadSpeed::FindFiles(const std::string& root) {
  BW_TRY(ForEachObject(stream_.env().store, stream_.log().keys().DataPrefix(),
                       [&](const ListedObject& object) -> Result<void> {
                         files_.push_back(fmt::format("{}/{}", root, object.key));
                         return {};
                       }));
  BW_CHECK(files_.size() == kWarmSteps + counted_steps_);
  std::ranges::sort(files_);
  files_.erase(files_.begin(), files_.begin() + kWarmSteps);
  return {};
}

Result<Comparison> ReadSpeed::Measure(uint32_t prefetch_threads, RoundLimits limits) {
  return Compare(stream_.env().clock, limits, [&] { return Consume(prefetch_threads); }, [&] { return ReadPlainly(); });
}

Result<Duration> ReadSpeed::Consume(uint32_t prefetch_threads) {
  ConsumerOptions options;
  if (prefetch_threads == 0) {
    options.prefetch_steps_max = 0;
  } else {
    options.prefetch_threads = prefetch_threads;
  }
  Consumer consumer = BW_TRY(stream_.OpenConsumer(options));
  Clock& clock = stream_.env().clock;
  TimePoint began;
  uint64_t counted = 0;
  for (uint64_t step = 0; step < kWarmSteps + counted_steps_; ++step) {
    if (step == kWarmSteps) began = clock.Now();
    const std::optional<RankBatch> batch = BW_TRY(consumer.Next());
    BW_CHECK(batch && batch->slices().size() == 1);
    if (step >= kWarmSteps) counted += batch->slices().front().bytes.size();
  }
  const Duration took = clock.Now() - began;
  BW_CHECK(counted == counted_bytes());
  return took;
}

Result<Duration> ReadSpeed::ReadPlainly() {
  Clock& clock = stream_.env().clock;
  const TimePoint began = clock.Now();
  uint64_t hashes = 0;  // Used, so that no hash is left out.
  for (const std::string& path : files_) {
    const FileDescriptor file = OpenAt(AT_FDCWD, path, O_RDONLY);
    if (!file.valid()) return CannotRead(errno, path);
    for (size_t received = 0; received < buffer_.size();) {
      const ssize_t size =
          pread(file.get(), buffer_.data() + received, buffer_.size() - received, static_cast<off_t>(received));
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return CannotRead(size < 0 ? errno : EIO, path);
      received += static_cast<size_t>(size);
    }
    hashes ^= Hash64(buffer_);
  }
  const Duration took = clock.Now() - began;
  BW_CHECK(hashes != 1);
  return took;
}

}  // namespace batchweave::bench
