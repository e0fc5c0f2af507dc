#include "sim/run_seeds.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave::sim {
namespace {

using Json = nlohmann::json;
using WallClock = std::chrono::steady_clock;

// A run takes a second or so. One that takes this long on the busiest machine goes round in circles.
constexpr auto kRunTimeMax = std::chrono::minutes(4);
constexpr auto kStoryTimeMax = std::chrono::seconds(20);
constexpr rlim_t kStoryBytesMax = rlim_t{2} << 30;
constexpr long kStoryTailBytes = 8000;

std::string ToLine(const Outcome& outcome) {
  Json violations = Json::array();
  for (const Violation& violation : outcome.violations) {
    violations.push_back({violation.invariant, violation.message, violation.when.count()});
  }
  const Json json = {{"seed", outcome.seed},
                     {"hash", outcome.trace_hash},
                     {"violations", violations},
                     {"story", outcome.story},
                     {"operations", outcome.operations},
                     {"commits", outcome.commits},
                     {"steps", outcome.steps},
                     {"simulated", outcome.simulated.count()},
                     {"faults", outcome.faults}};
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

Outcome FromLine(const std::string& line) {
  const Json json = Json::parse(line);
  Outcome outcome{.seed = json["seed"],
                  .trace_hash = json["hash"],
                  .story = json["story"],
                  .operations = json["operations"],
                  .commits = json["commits"],
                  .steps = json["steps"],
                  .simulated = SimTime(json["simulated"].get<int64_t>()),
                  .faults = json["faults"]};
  for (const Json& violation : json["violations"]) {
    outcome.violations.push_back({.invariant = violation[0],
                                  .message = violation[1],
                                  .about = {},
                                  .when = SimTime(violation[2].get<int64_t>())});
  }
  return outcome;
}

// The last lines of what `seed` does, which ends no run of it: told by a process that may crash or hang as well.
std::string StoryOfLost(uint64_t seed) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return {};
  std::fflush(nullptr);
  const pid_t teller = fork();
  BW_CHECK(teller >= 0);
  if (teller == 0) {
    const rlimit bound{.rlim_cur = kStoryBytesMax, .rlim_max = kStoryBytesMax};
    setrlimit(RLIMIT_FSIZE, &bound);
    dup2(fileno(file), STDERR_FILENO);
    Simulate(seed, {.print_trace = true});
    _exit(0);
  }
  const auto deadline = WallClock::now() + kStoryTimeMax;
  while (waitpid(teller, nullptr, WNOHANG) == 0 && WallClock::now() < deadline) {
    poll(nullptr, 0, /*timeout_ms=*/50);
  }
  kill(teller, SIGKILL);
  waitpid(teller, nullptr, 0);
  std::fseek(file, 0, SEEK_END);
  std::fseek(file, std::max(0L, std::ftell(file) - kStoryTailBytes), SEEK_SET);
  std::string tail(kStoryTailBytes, '\0');
  tail.resize(std::fread(tail.data(), 1, tail.size(), file));
  std::fclose(file);
  return "the last lines before that:\n" + tail.substr(std::min(tail.size(), tail.find('\n') + 1));
}

// A process that runs the seeds first, first + stride, ... below end, and sends a line of each.
class Worker {
 public:
  Worker(uint64_t first, uint64_t end, uint64_t stride) : next_(first), end_(end), stride_(stride) { Start(); }
  ~Worker() { Stop(SIGKILL); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int fd() const { return pipe_; }
  bool done() const { return next_ >= end_; }
  WallClock::time_point deadline() const { return began_ + kRunTimeMax; }

  // What it sent, as far as it came. Where the process died, the seed that it was at is told as a breach.
  std::vector<Outcome> Receive() {
    std::array<char, 65536> buffer;
    const ssize_t size = read(pipe_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) return {};
    if (size <= 0) return {Died()};
    received_.append(buffer.data(), static_cast<size_t>(size));
    std::vector<Outcome> outcomes;
    for (size_t end = received_.find('\n'); end != received_.npos; end = received_.find('\n')) {
      outcomes.push_back(FromLine(received_.substr(0, end)));
      received_.erase(0, end + 1);
      Advance();
    }
    return outcomes;
  }

  Outcome Hung() { return GiveUp(SIGKILL, "it goes round in circles"); }

 private:
  void Start() {
    int ends[2];
    BW_CHECK(pipe(ends) == 0);
    std::fflush(nullptr);
    process_ = fork();
    BW_CHECK(process_ >= 0);
    if (process_ == 0) {
      close(ends[0]);
      for (uint64_t seed = next_; seed < end_; seed += stride_) {
        const std::string line = ToLine(Simulate(seed));
        for (size_t sent = 0; sent < line.size();) {
          const ssize_t size = write(ends[1], line.data() + sent, line.size() - sent);
          if (size < 0 && errno != EINTR) _exit(1);
          sent += size > 0 ? static_cast<size_t>(size) : 0;
        }
      }
      _exit(0);
    }
    close(ends[1]);
    pipe_ = ends[0];
    began_ = WallClock::now();
  }

  int Stop(int signal) {
    if (process_ <= 0) return 0;
    int status = 0;
    kill(process_, signal);
    waitpid(std::exchange(process_, -1), &status, 0);
    close(pipe_);
    return status;
  }

  void Advance() {
    next_ += stride_;
    began_ = WallClock::now();
  }

  Outcome Died() {
    const int status = Stop(0);
    return GiveUp(0, WIFSIGNALED(status) ? fmt::format("the process died of signal {}", WTERMSIG(status))
                                         : fmt::format("the process ended with {}", WEXITSTATUS(status)));
  }

  Outcome GiveUp(int signal, std::string why) {
    Stop(signal);
    Outcome outcome{.seed = next_,
                    .violations = {{.invariant = "crash", .message = std::move(why), .about = {}}},
                    .story = StoryOfLost(next_)};
    received_.clear();
    Advance();
    if (!done()) Start();
    return outcome;
  }

  uint64_t next_;
  const uint64_t end_;
  const uint64_t stride_;
  pid_t process_ = -1;
  int pipe_ = -1;
  std::string received_;
  WallClock::time_point began_;
};

void Count(const Outcome& outcome, const std::string& until, Totals& totals) {
  totals.seeds += 1;
  const auto found = std::ranges::find(outcome.violations, until, &Violation::invariant);
  if (totals.found.empty() && found != outcome.violations.end()) {
    totals.found = fmt::format("{}: {}", found->invariant, found->message);
  }
  totals.violations += outcome.violations.empty() ? 0 : 1;
  totals.operations += outcome.operations;
  totals.commits += outcome.commits;
  totals.simulated += outcome.simulated;
  for (size_t kind = 0; kind < kFaultKinds; ++kind) totals.faults.at(kind) += outcome.faults.at(kind);
}

}  // namespace

Totals RunSeeds(const RunOptions& options) {
  std::vector<std::unique_ptr<Worker>> workers;
  const uint64_t end = options.first_seed + options.seeds;
  for (unsigned job = 0; job < options.jobs && job < options.seeds; ++job) {
    workers.push_back(std::make_unique<Worker>(options.first_seed + job, end, options.jobs));
  }
  Totals totals;
  while (!workers.empty()) {
    std::vector<pollfd> polled;
    for (const auto& worker : workers) polled.push_back({.fd = worker->fd(), .events = POLLIN, .revents = 0});
    if (poll(polled.data(), polled.size(), /*timeout_ms=*/1000) < 0) continue;
    for (size_t i = 0; i < workers.size(); ++i) {
      std::vector<Outcome> outcomes;
      if (polled[i].revents != 0) {
        outcomes = workers[i]->Receive();
      } else if (WallClock::now() > workers[i]->deadline()) {
        outcomes.push_back(workers[i]->Hung());
      }
      for (const Outcome& outcome : outcomes) {
        Count(outcome, options.until, totals);
        if (options.on_outcome) options.on_outcome(outcome);
      }
    }
    if (!totals.found.empty()) break;
    std::erase_if(workers, [](const auto& worker) { return worker->done(); });
  }
  return totals;
}

}  // namespace batchweave::sim
