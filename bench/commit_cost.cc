#include "bench/commit_cost.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "batchweave/store/metered_store.h"
#include "batchweave/stream/open_env.h"

namespace batchweave::bench {
namespace {

constexpr uint64_t kCycles = 2;

// Commits to one stream, and counts from the moment at which its history was archived until that has happened kCycles
// times more.
class Side {
 public:
  static Result<std::unique_ptr<Side>> Make(LongStreamShape shape) {
    auto side = std::make_unique<Side>(BW_TRY(OpenEnv("memory:")));
    const Env env = side->env_->env();
    side->stream_.emplace(BW_TRY(LongStream::Make(
        {.store = side->metered_, .clock = env.clock, .random = env.random, .threads = env.threads}, "age", shape)));
    side->rows_matter_ = shape.producers > 1;
    return side;
  }
  explicit Side(std::unique_ptr<OwnedEnv> env) : env_(std::move(env)), metered_(env_->env().store) {}

  bool done() const { return tails_ > kCycles && (!rows_matter_ || tables_ > kCycles); }

  Result<void> CommitOne() {
    Clock& clock = env_->env().clock;
    const Manifest& before = stream_->newest().manifest;
    const Step tail_first = before.tail_first();
    const std::optional<ArchiveRef> table = before.archived_rows;
    const StoreUsage usage_before = metered_.usage();
    const TimePoint began = clock.Now();
    BW_TRY(stream_->Commit(1));
    if (counts()) Add(clock.Now() - began, metered_.usage() - usage_before);
    const Manifest& after = stream_->newest().manifest;
    if (after.tail_first() != tail_first) tails_ += 1;
    if (after.archived_rows != table) tables_ += 1;
    return {};
  }

  CommitCost cost() const {
    const auto commits = static_cast<double>(commits_);
    return {.seconds = Seconds(took_) / commits,
            .bytes = static_cast<double>(bytes_) / commits,
            .requests = static_cast<double>(requests_) / commits,
            .commits = commits_};
  }

 private:
  bool counts() const { return tails_ > 0 && (!rows_matter_ || tables_ > 0) && !done(); }
  static double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

  void Add(Duration took, const StoreUsage& usage) {
    commits_ += 1;
    took_ += took;
    bytes_ += usage.bytes_read + usage.bytes_written;
    requests_ += usage.requests();
  }

  std::unique_ptr<OwnedEnv> env_;
  MeteredStore metered_;
  std::optional<LongStream> stream_;
  bool rows_matter_ = false;
  uint64_t tails_ = 0;   // How often entries were archived,
  uint64_t tables_ = 0;  // and rows.
  uint64_t commits_ = 0;
  Duration took_{};
  uint64_t bytes_ = 0;
  uint64_t requests_ = 0;
};

}  // namespace

double CommitCosts::worst_ratio() const { return std::max({time_ratio(), bytes_ratio(), requests_ratio()}); }

Result<CommitCosts> CompareCommits(const LongStreamShape& shape) {
  LongStreamShape young_shape = shape;
  young_shape.steps = kLongStreamStepsMin;
  const std::unique_ptr<Side> old = BW_TRY(Side::Make(shape));
  const std::unique_ptr<Side> young = BW_TRY(Side::Make(young_shape));
  while (!old->done() || !young->done()) {
    BW_TRY(old->CommitOne());
    BW_TRY(young->CommitOne());
  }
  return CommitCosts{.young = young->cost(), .old = old->cost()};
}

}  // namespace batchweave::bench
