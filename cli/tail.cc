#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "batchweave/consumer/poll_pace.h"
#include "batchweave/log/history.h"
#include "cli/commands.h"
#include "cli/stream_json.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

constexpr PollPace::Limits kPollLimits = {.min = std::chrono::milliseconds(50), .max = std::chrono::seconds(2)};

// Looks in a row that may fail before following ends: with up to 2 s between them about a minute.
constexpr int kFailuresMax = 30;

struct Options {
  uint64_t count = 10;
  bool follow = false;
};

class Tail {
 public:
  Tail(Console& console, Stream& stream) : console_(console), stream_(stream), log_(stream.log()) {}

  Result<void> PrintLast(uint64_t count) {
    newest_ = BW_TRY(log_.ReadNewest()).manifest;
    next_ = newest_.next_step.value > count ? Step{newest_.next_step.value - count} : Step{0};
    next_ = std::max(next_, newest_.first_step);
    return PrintNew();
  }

  // Until the stream is sealed, or for ever.
  Result<void> Follow() {
    const Env env = stream_.env();
    PollPace pace(kPollLimits);
    while (!newest_.sealed) {
      if (BW_TRY(Look())) {
        pace.OnVersion(env.clock.Now());
        BW_TRY(PrintNew());
        continue;
      }
      const TimePoint now = env.clock.Now();
      env.clock.SleepUntil(After(now, pace.AfterNothing(now, NextUnit(env.random))));
    }
    console_.Note(fmt::format("the stream is sealed: it ends after {}", Counted(newest_.next_step.value, "step")));
    return {};
  }

 private:
  // True where there is a newer version. A store that cannot be reached for a while does not end it.
  Result<bool> Look() {
    Result<bool> moved = LookOnce();
    if (!FailedWith(moved, ErrorCode::kUnavailable) || ++failures_ > kFailuresMax) return moved;
    return false;
  }

  Result<bool> LookOnce() {
    const bool moved = BW_TRY(log_.Exists(Next(newest_.version)));
    if (moved) newest_ = BW_TRY(log_.ReadNewest()).manifest;
    failures_ = 0;
    return moved;
  }

  Result<void> PrintNew() {
    if (next_ < newest_.first_step) {
      console_.Note(
          fmt::format("steps {} to {} were trimmed before they were shown", next_.value, newest_.first_step.value - 1));
      next_ = newest_.first_step;
    }
    const StepRange range{.first = next_, .end = newest_.next_step};
    BW_TRY(ForEachEntry(log_, newest_, range, [&](Step step, const Entry& entry) -> Result<void> {
      Print(step, entry);
      return {};
    }));
    next_ = newest_.next_step;
    return console_.Flush();
  }

  // Of fixed width, since nobody knows what comes.
  void Print(Step step, const Entry& entry) {
    if (console_.json()) {
      console_.PrintJson(EntryJson(step, entry));
      return;
    }
    constexpr const char* kLine = "{:>8}  {:<23}  {:<16}  {:>8}  {:>9}  {:>10}  {:>9}  {}\n";
    if (!headed_) {
      console_.Print(fmt::format(kLine, "STEP", "COMMITTED", "PRODUCER", "SEQ", "GRID", "SIZE", "SAMPLES", "CURSOR"));
      headed_ = true;
    }
    constexpr size_t kCursorShownMax = 40;
    console_.Print(fmt::format(kLine, step.value, UtcTime(entry.committed_at_ns), entry.producer, entry.seq,
                               GridText(entry.grid), HumanSize(PayloadBytes(entry)), Grouped(entry.samples),
                               Shortened(TextOrHex(entry.cursor), kCursorShownMax)));
  }

  Console& console_;
  Stream& stream_;
  ManifestLog& log_;
  Manifest newest_;
  Step next_;  // To be printed next.
  bool headed_ = false;
  int failures_ = 0;
};

Result<void> RunTail(Console& console, const std::string& url, const Options& options) {
  Target target = BW_TRY(OpenTarget(url));
  Tail tail(console, target.stream);
  BW_TRY(tail.PrintLast(options.count));
  return options.follow ? tail.Follow() : Result<void>();
}

}  // namespace

void AddTail(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.Add({.name = "tail",
            .description = "the newest steps, one a line; with -f those to come too",
            .examples = "  batchweave tail file:///data/runs/llm-7b -n 20\n"
                        "  batchweave tail -f ./runs/llm-7b --json | jq -c '[.step, .producer]'"},
           UrlOf::kStream,
           [options](Console& console, const std::string& url) { return RunTail(console, url, *options); })
      .Number("-n,--count", options->count, "begin with so many of the newest steps")
      .Flag("-f,--follow", options->follow, "go on with each new step, until the stream is sealed or Ctrl-C");
}

}  // namespace batchweave::cli
