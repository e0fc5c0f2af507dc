// Real processes on a real directory that are killed, or stop themselves, at each point of batchweave/base/fault_point.h:
// forked children that run the library, and the command.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/format/manifest.h"
#include "batchweave/testing/matchers.h"
#include "cli/exit_code.h"
#include "tests/fault_world.h"

namespace batchweave {
namespace {

constexpr int kKilled = 128 + SIGKILL;
constexpr int kDone = cli::kDone;
constexpr int kFenced = cli::ExitCodeOf(ErrorCode::kFenced);
constexpr int kTrimmed = cli::ExitCodeOf(ErrorCode::kTrimmed);
constexpr int kNotFound = cli::ExitCodeOf(ErrorCode::kNotFound);
constexpr int kExists = cli::ExitCodeOf(ErrorCode::kAlreadyExists);
constexpr int kNotStopped = -1;  // There is nothing that others could do meanwhile.

// Which process reaches a point. Those of a command are named after it.
enum class Who { kSource, kSourceWithALostAnswer, kOutrunSource, kWorker, kJob, kCommand };

struct Case {
  std::string_view point;  // "label" or "label:nth".
  Who who = Who::kSource;
  std::string_view command{};  // Its words; the stream comes second.
  int after_sleep = kDone;     // The exit code of a process that slept at the point while others went on.
  int again = kDone;           // That of a process that does it again after one was killed.
};

constexpr std::string_view kCheckpoint = "checkpoint train other 60 --keep-last 1";
constexpr std::string_view kDelete = "delete --yes";

constexpr Case kCases[] = {
    // A producer: its opening is the first commit, and its probe writes two files before it.
    {.point = "probe.created"},
    {.point = "opening.made"},
    {.point = "opening.announced", .who = Who::kOutrunSource},
    {.point = "opening.committed", .after_sleep = kFenced},
    {.point = "upload.done", .after_sleep = kFenced},
    {.point = "upload.done:3", .after_sleep = kFenced},
    {.point = "archive.written", .after_sleep = kFenced},
    {.point = "commit.frozen"},
    {.point = "commit.frozen:2", .after_sleep = kFenced},
    {.point = "commit.sent", .after_sleep = kFenced},
    {.point = "commit.sent:2", .after_sleep = kFenced},
    {.point = "commit.undecided", .who = Who::kSourceWithALostAnswer, .after_sleep = kFenced},
    {.point = "batches.announced", .who = Who::kOutrunSource, .after_sleep = kFenced},
    {.point = "batches.committed", .after_sleep = kFenced},
    {.point = "file.written:1"},
    {.point = "file.written:2"},
    {.point = "file.written:3"},
    {.point = "file.written:4", .after_sleep = kFenced},
    {.point = "file.written:5", .after_sleep = kFenced},
    {.point = "file.placed:2"},
    {.point = "file.placed:3", .after_sleep = kFenced},
    {.point = "file.placed:4", .after_sleep = kFenced},
    {.point = "file.placed:5", .after_sleep = kFenced},
    // A worker.
    {.point = "part.written", .who = Who::kWorker},
    {.point = "part.written:2", .who = Who::kWorker},
    // A job: its session is the first commit, its checkpoint the second.
    {.point = "session.committed", .who = Who::kJob, .after_sleep = kFenced},
    {.point = "step.located", .who = Who::kJob, .after_sleep = kTrimmed},
    {.point = "progress.told", .who = Who::kJob, .after_sleep = kTrimmed},
    {.point = "commit.frozen:2", .who = Who::kJob, .after_sleep = kFenced},
    {.point = "commit.sent:2", .who = Who::kJob},
    {.point = "checkpoint.registered", .who = Who::kJob},
    {.point = "file.deleted", .who = Who::kJob},
    {.point = "trimmed.data_deleted", .who = Who::kJob},
    // Commands that commit.
    {.point = "commit.frozen", .who = Who::kCommand, .command = kCheckpoint, .after_sleep = kFenced},
    {.point = "commit.sent", .who = Who::kCommand, .command = kCheckpoint},
    {.point = "commit.frozen", .who = Who::kCommand, .command = "release train spare", .after_sleep = kFenced},
    {.point = "commit.sent", .who = Who::kCommand, .command = "release train spare", .again = kNotFound},
    {.point = "commit.frozen", .who = Who::kCommand, .command = "seal"},
    {.point = "commit.sent", .who = Who::kCommand, .command = "seal", .after_sleep = kNotStopped},
    {.point = "commit.frozen", .who = Who::kCommand, .command = "fence a --yes"},
    {.point = "commit.sent", .who = Who::kCommand, .command = "fence a --yes"},
    {.point = "commit.frozen",
     .who = Who::kCommand,
     .command = "quarantine 40 42 --reason bad",
     .after_sleep = kTrimmed},
    {.point = "commit.sent", .who = Who::kCommand, .command = "quarantine 40 42 --reason bad"},
    {.point = "commit.frozen", .who = Who::kCommand, .command = "groups create eval --at 60", .after_sleep = kTrimmed},
    {.point = "commit.sent", .who = Who::kCommand, .command = "groups create eval --at 60", .again = kExists},
    // Reclaim.
    {.point = "reclaim.listed", .who = Who::kCommand, .command = "reclaim"},
    {.point = "reclaim.judged", .who = Who::kCommand, .command = "reclaim"},
    {.point = "reclaim.kept", .who = Who::kCommand, .command = "reclaim"},
    {.point = "reclaim.kept:2", .who = Who::kCommand, .command = "reclaim"},
    {.point = "file.deleted:7", .who = Who::kCommand, .command = "reclaim"},
    {.point = "reclaim.swept", .who = Who::kCommand, .command = "reclaim"},
    {.point = "overwrite_probe.created", .who = Who::kCommand, .command = "reclaim"},
    {.point = "reclaim.overwrite_probed", .who = Who::kCommand, .command = "reclaim"},
    {.point = "reclaim.retired", .who = Who::kCommand, .command = "reclaim"},
    {.point = "reclaim.retired:5", .who = Who::kCommand, .command = "reclaim"},
};

// Of streams that come to be, or go. A sleeper's rival does the same.
constexpr Case kCreations[] = {
    {.point = "probe.created", .who = Who::kCommand, .command = "create", .after_sleep = kExists},
    {.point = "create.probed", .who = Who::kCommand, .command = "create", .after_sleep = kExists},
    {.point = "create.written", .who = Who::kCommand, .command = "create", .again = kExists},
};
constexpr Case kDeletions[] = {
    {.point = "commit.frozen", .who = Who::kCommand, .command = kDelete},
    {.point = "commit.sent", .who = Who::kCommand, .command = kDelete},
    {.point = "delete.committed", .who = Who::kCommand, .command = kDelete},
    {.point = "file.written:2", .who = Who::kCommand, .command = kDelete},
    {.point = "delete.marked", .who = Who::kCommand, .command = kDelete},
    {.point = "file.deleted:30", .who = Who::kCommand, .command = kDelete},
    {.point = "delete.data_removed", .who = Who::kCommand, .command = kDelete},
    {.point = "file.deleted:120", .who = Who::kCommand, .command = kDelete},
};

std::vector<std::string> Words(const std::string& url, std::string_view command) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < command.size();) {
    const size_t end = std::min(command.find(' ', begin), command.size());
    words.emplace_back(command.substr(begin, end - begin));
    begin = end + 1;
  }
  words.insert(words.begin() + 1, url);
  return words;
}

constexpr size_t kVersionsRetiredMin = 65;

bool IsRetired(const std::pair<const std::string, Bytes>& slot) { return DecodeTombstone(slot.second).ok(); }

// Of the process that a case is about, in a world of its own.
class Trial {
 public:
  explicit Trial(const Case& of) : case_(of), world_(Original()) {
    FaultProcess process(world_);
    Result<void> prepared;
    if (case_.who == Who::kWorker) prepared = TakeTicket(world_, process.env());
    if (case_.command == "reclaim") prepared = LetGo(world_, process.env());
    EXPECT_THAT(prepared, IsOk());
  }

  // Made once, copied for each.
  static const FaultWorld& Original() {
    static const FaultWorld original;
    return original;
  }
  ChildProcess Start(const std::string& point, std::string_view stream = "run") const {
    const Fault lost{.fail_call = 2,  // The commit after the opening.
                     .when = FaultWhen::kAfter,
                     .code = ErrorCode::kUnknownOutcome,
                     .filter = {.calls = kCallCreate, .key = KeyContains("/manifest/")}};
    switch (case_.who) {
      case Who::kSource: return StartWork(world_, PublishAll, point);
      case Who::kSourceWithALostAnswer: return StartWork(world_, PublishAll, point, lost);
      case Who::kOutrunSource: return StartWork(world_, PublishAllOutrun, point);
      case Who::kWorker: return StartWork(world_, WriteTheParts, point);
      case Who::kJob: return StartWork(world_, Train, point);
      case Who::kCommand: break;
    }
    return StartCommand(Words(world_.stream(stream), case_.command), point);
  }

  void KillAndDoItAgain() const {
    const auto slots = Slots(world_);
    ASSERT_EQ(Start(Point()).WaitForCode(), kKilled);
    ExpectNotedIsCommitted(world_);
    EXPECT_EQ(Start("").WaitForCode(), case_.again);
    ExpectWholeAtTheEnd(world_);
    ExpectSlotsAreTaken(world_, slots);
  }
  void LetItSleep() const {
    ChildProcess sleeper = Start(PointOfStop());
    ASSERT_TRUE(sleeper.AwaitStopped());
    ASSERT_EQ(StartWork(world_, Succeed, "").WaitForCode(), kDone);
    const auto slots = Slots(world_);
    const uint64_t acknowledged = Noted(world_, "acknowledged");
    const uint64_t taken_over_at = Noted(world_, "opened");
    EXPECT_GE(static_cast<size_t>(std::ranges::count_if(slots, IsRetired)), kVersionsRetiredMin);
    sleeper.Continue();
    EXPECT_EQ(sleeper.WaitForCode(), case_.after_sleep);
    // Who is fenced is told of nothing that was not committed when the name was taken over.
    const uint64_t told = Noted(world_, "acknowledged");
    EXPECT_TRUE(case_.after_sleep != kFenced || told == acknowledged || told <= taken_over_at) << told;
    ExpectSlotsAreTaken(world_, slots);
    ExpectNotedIsCommitted(world_);
    ExpectWholeAtTheEnd(world_);
    ExpectSlotsAreTaken(world_, slots);
  }

  std::string Point() const { return std::string(case_.point); }
  std::string PointOfStop() const { return Point() + ":stop"; }
  const FaultWorld& world() const { return world_; }

 private:
  const Case case_;
  const FaultWorld world_;
};

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  std::string name = fmt::format("{}_{}", info.param.point, info.param.command);
  std::erase_if(name, [](char c) { return c == '-'; });
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return fmt::format("{}_{}", name, static_cast<int>(info.param.who));
}

class FaultPointsTest : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Points, FaultPointsTest, ::testing::ValuesIn(kCases), NameOf);

// Covers C4, D4, M4, I1, I2, I3, I4, I5, I7, I9.
TEST_P(FaultPointsTest, KilledThereItLosesAndDoublesNothing) { Trial(GetParam()).KillAndDoItAgain(); }

// Covers B1, B2, D1, D5, D7, M1, M2, I1, I4, I5, I6, I7, I8, I9.
TEST_P(FaultPointsTest, AsleepThereWhileOthersGoOnItHarmsNothing) {
  if (GetParam().after_sleep != kNotStopped) Trial(GetParam()).LetItSleep();
}

class CreationTest : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Points, CreationTest, ::testing::ValuesIn(kCreations), NameOf);

// Covers B6.
TEST_P(CreationTest, KilledThereOrAsleepOneCreatorWins) {
  for (const bool sleeps : {false, true}) {
    const Trial trial(GetParam());
    ChildProcess creator = trial.Start(sleeps ? trial.PointOfStop() : trial.Point(), "new");
    if (sleeps) {
      ASSERT_TRUE(creator.AwaitStopped());
    } else {
      ASSERT_EQ(creator.WaitForCode(), kKilled);
    }
    EXPECT_EQ(trial.Start("", "new").WaitForCode(), GetParam().again);
    if (sleeps) {
      creator.Continue();
      EXPECT_EQ(creator.WaitForCode(), GetParam().after_sleep);
    }
    EXPECT_EQ(StartCommand({"verify", trial.world().stream("new"), "--deep"}, "").WaitForCode(), kDone);
  }
}

class DeletionTest : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Points, DeletionTest, ::testing::ValuesIn(kDeletions), NameOf);

TEST_P(DeletionTest, KilledThereOrAsleepNothingIsLeftButTheName) {
  for (const bool sleeps : {false, true}) {
    const Trial trial(GetParam());
    ChildProcess deleter = trial.Start(sleeps ? trial.PointOfStop() : trial.Point());
    if (sleeps) {
      ASSERT_TRUE(deleter.AwaitStopped());
    } else {
      ASSERT_EQ(deleter.WaitForCode(), kKilled);
    }
    EXPECT_EQ(trial.Start("").WaitForCode(), kDone);
    if (sleeps) {
      deleter.Continue();
      EXPECT_EQ(deleter.WaitForCode(), kDone);
    }
    FaultProcess process(trial.world());
    EXPECT_EQ(process.env().store.List("run/", "", 100)->objects.size(), 1u);
    EXPECT_EQ(StartCommand({"create", trial.world().stream()}, "").WaitForCode(), kExists);
  }
}

// Every test above fails where its process comes to its end without having reached its point.
TEST(FaultPointListTest, EveryPointHasItsCase) {
  std::set<std::string_view> tried;
  for (const std::span<const Case> cases :
       {std::span<const Case>(kCases), std::span<const Case>(kCreations), std::span<const Case>(kDeletions)}) {
    for (const Case& tried_case : cases) tried.insert(tried_case.point.substr(0, tried_case.point.find(':')));
  }
  for (const FaultPointInfo& info : AllFaultPoints()) EXPECT_TRUE(tried.contains(info.label)) << info.label;
}

TEST(FaultPointListTest, APointIsALabelWhichTimeAndWhetherToStop) {
  const std::optional<FaultPoint> point = ParseFaultPoint("commit.sent:12:stop");
  ASSERT_TRUE(point);
  EXPECT_EQ(point->label, "commit.sent");
  EXPECT_EQ(point->nth, 12u);
  EXPECT_TRUE(point->stop);
  EXPECT_FALSE(ParseFaultPoint("commit.sent")->stop);
  EXPECT_EQ(ParseFaultPoint("commit.sent")->nth, 1u);
  for (const char* wrong :
       {"", "commit", "commit.sent:0", "commit.sent:", "commit.sent:x", "commit.sent:stop:1", ":1"}) {
    EXPECT_FALSE(ParseFaultPoint(wrong)) << wrong;
  }
}

// What a process would do that breaks the protocol.
struct Breach {
  Mutation mutation;
  bool sleeps;
  Case of;
};
constexpr Breach kBreaches[] = {
    {Mutation::kDeletesOldVersions, true, {.point = "commit.frozen:2", .after_sleep = kFenced}},
    {Mutation::kTombstoneTakenForOurs, true, {.point = "commit.frozen:2", .after_sleep = kFenced}},
    {Mutation::kOpeningDoesNotFence, true, {.point = "opening.committed", .after_sleep = kFenced}},
    {Mutation::kAckBySeqAlone, true, {.point = "upload.done", .after_sleep = kFenced}},
    {Mutation::kSessionNotChecked, true, {.point = "commit.frozen:2", .who = Who::kJob, .after_sleep = kFenced}},
    {Mutation::kSeqBeginsAnew, false, {.point = "commit.sent:2"}},
    {Mutation::kReclaimKeepsFenced, false, {.point = "upload.done"}},
};

// A test that cannot fail shows nothing.
TEST(FaultPointListTest, TheseTestsSeeWhatBreaksTheProtocol) {
  static_cast<void>(Trial::Original());
  for (const Breach& breach : kBreaches) {
    ChildProcess child([&] {
      // Its failures are what is wanted: nobody reads them.
      const int nowhere = open("/dev/null", O_WRONLY);
      dup2(nowhere, STDOUT_FILENO);
      dup2(nowhere, STDERR_FILENO);
      if (!SetMutation(breach.mutation)) return false;
      const Trial trial(breach.of);
      if (breach.sleeps) {
        trial.LetItSleep();
      } else {
        trial.KillAndDoItAgain();
      }
      return ::testing::Test::HasFailure();
    });
    EXPECT_TRUE(child.Wait()) << MutationName(breach.mutation);
  }
}

}  // namespace
}  // namespace batchweave
