#include "batchweave/consumer/consumer.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/consumer/ask_log.h"
#include "batchweave/consumer/fetcher.h"
#include "batchweave/consumer/prefetcher.h"
#include "batchweave/consumer/step_index.h"
#include "batchweave/log/deletion.h"

namespace batchweave {
namespace {

// Entries kept of those that a version tells of: as many as a full tail holds, half a MiB.
constexpr size_t kKnownStepsMax = 1024;

// More threads read no faster, and cost memory each.
constexpr uint32_t kPrefetchThreadsMax = 64;
constexpr uint32_t kPrefetchStepsMax = 4096;

Result<void> CheckOptions(const ConsumerOptions& options) {
  BW_TRY(CheckMeshRank(options.rank));
  if (options.prefetch_steps_max > kPrefetchStepsMax) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("prefetch_steps_max is at most {}: found={}",
                                                          kPrefetchStepsMax, options.prefetch_steps_max)};
  }
  if (options.prefetch_threads == 0 || options.prefetch_threads > kPrefetchThreadsMax) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("prefetch_threads is from 1 to {}: found={}",
                                                          kPrefetchThreadsMax, options.prefetch_threads)};
  }
  if (options.poll_interval_min <= Duration{} || options.poll_interval_max < options.poll_interval_min) {
    return Error{ErrorCode::kInvalidArgument, "poll_interval_min is above 0 and at most poll_interval_max"};
  }
  if (options.stall_after <= Duration{}) return Error{ErrorCode::kInvalidArgument, "stall_after is above 0"};
  return {};
}

}  // namespace

class Consumer::Impl {
 public:
  Impl(Env env, ManifestLog& log, ConsumerOptions options, StepIndex index)
      : deletion(log), prefetcher(env, log, std::move(options), std::move(index)) {}

  DeletionWatch deletion;
  Prefetcher prefetcher;
};

Result<Consumer> Consumer::Open(Env env, ManifestLog& log, ConsumerOptions options,
                                std::optional<LoggedManifest> newest) {
  BW_TRY(CheckOptions(options));
  StepIndex index(options.position, kKnownStepsMax);
  const LogQuestion question = index.Ask();
  const Result<bool> learned = index.Learn(
      question, newest ? Result<LogAnswer>(StepsOf(std::move(newest->manifest), newest->hash)) : AskLog(log, question));
  if (!learned.ok()) return UnlessDeleted(log, learned.error());
  if (const KnownStep* first = index.Peek()) BW_TRY(SlicesOfStep(*first, options.rank, options.allow_uneven));
  return Consumer(std::make_unique<Impl>(env, log, std::move(options), std::move(index)));
}

Consumer::Consumer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Consumer::Consumer(Consumer&&) noexcept = default;
Consumer& Consumer::operator=(Consumer&&) noexcept = default;
Consumer::~Consumer() = default;

Result<std::optional<RankBatch>> Consumer::Next(TimePoint deadline) {
  return impl_->deletion.Tell(impl_->prefetcher.Next(deadline));
}
Step Consumer::position() const { return impl_->prefetcher.position(); }
Hash128 Consumer::chain_hash() const { return impl_->prefetcher.chain_hash(); }
ConsumerStats Consumer::stats() const { return impl_->prefetcher.stats(); }
void Consumer::Close() { impl_->prefetcher.Close(); }

}  // namespace batchweave
