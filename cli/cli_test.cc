// The command as people and scripts run it: its own process, its exit code, its two outputs.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "batchweave/format/stream_info.h"
#include "batchweave/store/local_store.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/private_mounts.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/temporary_directory.h"
#include "batchweave/testing/test_env.h"
#include "cli/exit_code.h"

extern char** environ;

namespace batchweave::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::ordered_json;

struct Ran {
  int exit_code = -1;  // 128 + the signal where one ended it, as a shell says it.
  std::string out;
  std::string err;
};

std::string Slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> KeysOf(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  return keys;
}

// A started command whose outputs go to files.
class Command {
 public:
  Command(std::vector<std::string> arguments, std::string out, std::string err)
      : out_(std::move(out)), err_(std::move(err)) {
    arguments.insert(arguments.begin(), BATCHWEAVE_BINARY);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), kFlags, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.c_str(), kFlags, 0600);
    EXPECT_EQ(posix_spawn(&id_, argv[0], &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
  }

  void Signal(int signal) const { kill(id_, signal); }

  Ran Wait() {
    int status = 0;
    waitpid(id_, &status, 0);
    const int exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    // What was written to a device cannot be read back.
    return {.exit_code = exit_code, .out = out_.starts_with("/dev/") ? "" : Slurp(out_), .err = Slurp(err_)};
  }

 private:
  const std::string out_;
  const std::string err_;
  pid_t id_ = 0;
};

class CliTest : public ::testing::Test {
 protected:
  CliTest() : store_(LocalStore::Open(root_.path(), {.durability = Durability::kNone}).value()) {}

  std::string Url(const std::string& name = "run") const { return root_.path() + "/" + name; }
  Command Start(std::vector<std::string> arguments, const std::string& out = "") {
    return {std::move(arguments), out.empty() ? outputs_.path() + "/out" : out, outputs_.path() + "/err"};
  }
  Ran Run(std::vector<std::string> arguments, const std::string& out = "") {
    return Start(std::move(arguments), out).Wait();
  }
  // The one JSON object of a command that succeeds.
  Json RunJson(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const Ran ran = Run(std::move(arguments));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return Json::parse(ran.out, nullptr, false);
  }
  StreamBuilder& Builder() {
    if (!builder_) builder_ = std::make_unique<StreamBuilder>(*store_);
    return *builder_;
  }
  void Append(size_t batches) {
    for (size_t i = 0; i < batches; ++i)
      Builder().Append({.grid = {.dp = 2, .cp = 2}, .slice_bytes = {1000}, .parts = {}});
  }
  std::string DataKey(uint64_t step) {
    const Entry& entry = Builder().newest().tail[step];
    return Builder().keys().Data(entry.producer, entry.incarnation, entry.seq, entry.parts[0].nonce);
  }
  void Write(const std::string& key, ByteView bytes) {
    ASSERT_THAT(PutBytes(*store_, key, bytes, PutMode::kOverwrite), IsOk());
  }

  const TemporaryDirectory root_;
  const TemporaryDirectory outputs_;
  TestEnv env_;
  std::unique_ptr<ObjectStore> store_;
  std::unique_ptr<StreamBuilder> builder_;
};

TEST_F(CliTest, HelpListsEveryCommandAndEveryExitCode) {
  const Ran ran = Run({"--help"});
  EXPECT_EQ(ran.exit_code, 0);
  for (const char* command : {"create", "ls", "show", "tail", "cat", "seal", "verify", "groups", "checkpoint",
                              "release", "reclaim", "fence", "quarantine", "delete", "upgrade", "doctor"}) {
    EXPECT_THAT(ran.out, HasSubstr(fmt::format("\n  {} ", command)));
    const Ran page = Run({command, "--help"});
    EXPECT_EQ(page.exit_code, 0);
    EXPECT_THAT(page.out, AllOf(HasSubstr("Example:\n  batchweave "), HasSubstr("--json"), HasSubstr("URL")));
  }
  for (const ExitCode& exit_code : kExitCodes) {
    EXPECT_THAT(ran.out, HasSubstr(fmt::format("{:>3}  {}\n", exit_code.code, exit_code.meaning)));
  }
}

TEST_F(CliTest, WrongUseIsExitCode2AndSaysWhatIsWrong) {
  const auto refuses = [&](std::vector<std::string> arguments, const std::string& message) {
    const Ran ran = Run(std::move(arguments));
    EXPECT_EQ(ran.exit_code, kWrongUse) << message;
    EXPECT_THAT(ran.err, AllOf(HasSubstr(message), HasSubstr("--help")));
    EXPECT_THAT(ran.out, IsEmpty());
  };
  Append(1);
  refuses({}, "the commands are create, ls");
  refuses({"shw", Url()}, "no such command: shw");
  refuses({"show"}, "URL is required");
  refuses({"show", Url(), "--step", "-1"}, "not a whole number");
  refuses({"show", Url(), "--step", "99999999999999999999"}, "not a whole number");
  refuses({"show", Url(), "--colour"}, "--colour");
  refuses({"cat", Url()}, "--step is required");
  refuses({"cat", Url(), "--step", "0", "--dp", "2"}, "dp=2");
  refuses({"cat", Url(), "--step", "0", "--cp", "4294967296"}, "no grid is that large");
  refuses({"create", root_.path() + "/.."}, "does not end in a stream's name");
  refuses({"create", "s4://bucket/run"}, "s4://bucket");
}

TEST_F(CliTest, EachKindOfErrorHasItsExitCode) {
  Append(3);
  Builder().Trim(Step{1});
  Write("newer/stream.json", EncodeStreamInfo({.format_version = 99}));
  Write("damaged/stream.json", AsBytes("{"));
  EXPECT_EQ(Run({"show", Url("absent")}).exit_code, 3);
  EXPECT_EQ(Run({"ls", root_.path() + "/absent"}).exit_code, 3);
  EXPECT_EQ(Run({"show", Url(), "--step", "3"}).exit_code, 3);
  EXPECT_EQ(Run({"create", Url()}).exit_code, 4);
  EXPECT_EQ(Run({"show", Url("damaged")}).exit_code, 8);
  EXPECT_EQ(Run({"show", Url(), "--step", "0"}).exit_code, 9);
  EXPECT_EQ(Run({"verify", Url("newer")}).exit_code, 14);
}

TEST_F(CliTest, AnErrorInJsonIsOneObjectOnStandardError) {
  const Ran ran = Run({"show", Url("absent"), "--json"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.out, IsEmpty());
  const Json json = Json::parse(ran.err, nullptr, false);
  EXPECT_EQ(KeysOf(json), (std::vector<std::string>{"error", "exit_code", "message", "advice", "command"}));
  EXPECT_EQ(json["error"], "not_found");
  EXPECT_EQ(json["exit_code"], 3);
  const Json wrong_use = Json::parse(Run({"show", "--json"}).err, nullptr, false);
  EXPECT_EQ(wrong_use["error"], "invalid_argument");
}

TEST_F(CliTest, CreateMakesAStreamThatLsAndShowSee) {
  const Json created = RunJson({"create", Url("llm-7b")});
  EXPECT_EQ(created["name"], "llm-7b");
  const Json listed = RunJson({"ls", root_.path()});
  ASSERT_EQ(listed["streams"].size(), 1u);
  EXPECT_EQ(listed["streams"][0]["stream_id"], created["stream_id"]);
  EXPECT_THAT(Run({"ls", root_.path()}).out, HasSubstr("llm-7b"));
  EXPECT_THAT(Run({"show", Url("llm-7b")}).out, HasSubstr("no producer has opened it yet"));
}

TEST_F(CliTest, ADamagedStreamDoesNotHideTheOthers) {
  Append(1);
  Write("damaged/stream.json", AsBytes("{"));
  const Json listed = RunJson({"ls", root_.path()});
  ASSERT_EQ(listed["streams"].size(), 2u);
  EXPECT_EQ(listed["streams"][0]["error"], "corrupt");
  EXPECT_EQ(listed["streams"][1]["next_step"], 1);
}

TEST_F(CliTest, ShowTellsTheStreamAndOneStep) {
  Append(2);
  const Json stream = RunJson({"show", Url()});
  EXPECT_EQ(KeysOf(stream),
            (std::vector<std::string>{"name", "stream_id", "created_at", "version", "first_step", "next_step", "sealed",
                                      "payload_bytes", "samples", "newest_committed_at", "newest_producer",
                                      "version_hash", "producers", "groups"}));
  EXPECT_EQ(stream["payload_bytes"], 8000);
  EXPECT_EQ(stream["producers"][0]["producer"], "tok-03");
  const Json step = RunJson({"show", Url(), "--step", "1"});
  EXPECT_EQ(step["seq"], 2);
  EXPECT_EQ(step["objects"][0]["key"], DataKey(1));
  EXPECT_EQ(step["slices"].size(), 4u);
  EXPECT_EQ(step["slices"][1]["offset"], 1024);
  EXPECT_THAT(Run({"show", Url(), "-s", "1"}).out, AllOf(HasSubstr("step 1 of run"), HasSubstr(DataKey(1))));
}

TEST_F(CliTest, CatGivesTheBytesOfOneSliceAndNothingElse) {
  Append(2);
  const Coordinate at{.dp = 1, .cp = 1};
  const Ran ran = Run({"cat", Url(), "--step", "1", "--dp", "1", "--cp", "1"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ToBytes(ran.out), TestSlice(2, at, 1000));
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_EQ(RunJson({"cat", Url(), "--step", "0"})["content_hex"], ToHex(TestSlice(1, {}, 1000)));
}

TEST_F(CliTest, CatOfADamagedSliceGivesNothingAndNamesIt) {
  Append(1);
  Bytes bytes = store_->Read(DataKey(0)).value();
  bytes[999] ^= std::byte{1};
  Write(DataKey(0), bytes);
  const Ran ran = Run({"cat", Url(), "--step", "0"});
  EXPECT_EQ(ran.exit_code, 8);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, AllOf(HasSubstr("step=0 dp=0 cp=0"), HasSubstr(DataKey(0)), HasSubstr("verify --deep")));
}

TEST_F(CliTest, VerifyEndsWith8WhereAnInvariantIsBroken) {
  Append(3);
  EXPECT_EQ(RunJson({"verify", "--deep", Url()})["slices_read"], 12);
  EXPECT_THAT(Run({"verify", Url()}).out, HasSubstr("no invariant is broken"));
  const std::string key = DataKey(1);
  ASSERT_THAT(store_->Delete(std::vector{key}), IsOk());
  const Ran ran = Run({"verify", Url(), "--json"});
  EXPECT_EQ(ran.exit_code, 8);
  const Json report = Json::parse(ran.out, nullptr, false);
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["findings"][0]["invariant"], "I4");
  EXPECT_EQ(report["findings"][0]["step"], 1);
  EXPECT_EQ(report["findings"][0]["key"], key);
  EXPECT_THAT(Run({"verify", Url()}).out, AllOf(HasSubstr("I4"), HasSubstr(key), Not(HasSubstr("no invariant"))));
}

TEST_F(CliTest, TailShowsTheNewestSteps) {
  Append(12);
  EXPECT_THAT(Run({"tail", Url()}).out, AllOf(Not(HasSubstr("\n       1  ")), HasSubstr("\n       2  ")));
  const Ran ran = Run({"tail", Url(), "-n", "1", "--json"});
  EXPECT_EQ(Json::parse(ran.out, nullptr, false)["step"], 11);
  EXPECT_THAT(Run({"tail", Url(), "-n", "0"}).out, IsEmpty());
}

TEST_F(CliTest, TailFollowsUntilTheStreamIsSealed) {
  Append(1);
  Command tail = Start({"tail", "-f", Url(), "--json"});
  Append(2);
  Builder().Seal();
  const Ran ran = tail.Wait();
  EXPECT_EQ(ran.exit_code, 0);
  std::istringstream lines(ran.out);
  std::string line;
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE(std::getline(lines, line)) << step;
    EXPECT_EQ(Json::parse(line, nullptr, false)["step"], step);
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(CliTest, CtrlCEndsTailQuietlyWith130) {
  Append(1);
  Command tail = Start({"tail", "-f", Url(), "--json"});
  tail.Signal(SIGINT);
  const Ran ran = tail.Wait();
  EXPECT_EQ(ran.exit_code, 130);
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(CliTest, AnOutputThatTakesNothingIsAnError) {
  Append(1);
  const Ran ran = Run({"cat", Url(), "--step", "0"}, "/dev/full");
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_THAT(ran.err, HasSubstr("cannot write to standard output: No space left on device"));
}

TEST_F(CliTest, SealEndsTheStreamAndMayBeRepeated) {
  Append(2);
  for (int i = 0; i < 2; ++i) {
    const Json sealed = RunJson({"seal", Url()});
    EXPECT_EQ(sealed["sealed"], true);
    EXPECT_EQ(sealed["next_step"], 2);
  }
  EXPECT_THAT(Run({"show", Url()}).out, HasSubstr("sealed: nothing follows"));
}

TEST_F(CliTest, GroupsTellsWhichCheckpointKeepsHowMuch) {
  Append(4);
  EXPECT_THAT(Run({"groups", Url()}).out, HasSubstr("no groups: nothing is trimmed"));
  EXPECT_EQ(RunJson({"groups", Url(), "create", "train", "--at", "1"})["start"], 1);
  EXPECT_EQ(RunJson({"checkpoint", Url(), "train", "best", "2", "--pin"})["first_step"], 2);
  EXPECT_EQ(RunJson({"checkpoint", Url(), "train", "step-3", "3"})["position"], 3);
  const Json group = RunJson({"groups", Url()})["groups"][0];
  EXPECT_EQ(KeysOf(group), (std::vector<std::string>{"group", "session", "smallest_held", "reached", "holds"}));
  EXPECT_EQ(KeysOf(group["holds"][0]), (std::vector<std::string>{"checkpoint", "position", "pinned", "steps", "bytes",
                                                                 "steps_alone", "bytes_alone"}));
  EXPECT_EQ(group["holds"][0]["checkpoint"], "best");
  EXPECT_EQ(group["holds"][0]["steps_alone"], 1);
  EXPECT_THAT(Run({"groups", Url()}).out, AllOf(HasSubstr("best (pinned)"), HasSubstr("only best (pinned) of train")));
  EXPECT_EQ(RunJson({"release", Url(), "train", "best"})["released"], true);
  EXPECT_EQ(RunJson({"groups", Url(), "drop", "train"})["dropped"], true);
}

TEST_F(CliTest, WhatAGroupCannotHoldIsRefusedByName) {
  Append(3);
  ASSERT_EQ(Run({"groups", Url(), "create", "train", "--at", "0"}).exit_code, 0);
  const auto refuses = [&](std::vector<std::string> arguments, int exit_code, const std::string& message) {
    const Ran ran = Run(std::move(arguments));
    EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(message));
  };
  refuses({"groups", Url(), "create", "train", "--at", "0"}, 4, "the group exists");
  refuses({"groups", Url(), "create", "late", "--at", "4"}, 2, "beyond the end");
  refuses({"groups", Url(), "create", "late"}, 2, "--at STEP");
  refuses({"groups", Url(), "remove", "train"}, 2, "create or drop");
  refuses({"groups", Url(), "drop", "nobody"}, 3, "batchweave groups");
  refuses({"checkpoint", Url(), "nobody", "a", "1"}, 3, "no such group: group=nobody");
  refuses({"checkpoint", Url(), "train", "a", "4"}, 2, "beyond the end");
  ASSERT_EQ(Run({"checkpoint", Url(), "train", "a", "2"}).exit_code, 0);
  refuses({"checkpoint", Url(), "train", "b", "1"}, 9, "before the first step");
  refuses({"release", Url(), "train", "a"}, 2, "drop the group instead");
  refuses({"release", Url(), "train", "b"}, 3, "no such checkpoint");
}

TEST_F(CliTest, SixtyFiveGroupsAreDeniedAndToldWhatToDo) {
  Append(1);
  Stream stream = Stream::Open(env_.Over(*store_), "run").value();
  for (size_t i = 0; i < kGroupsMax; ++i) ASSERT_THAT(stream.CreateGroup(fmt::format("g-{}", i), Step{0}), IsOk());
  const Ran ran = Run({"groups", Url(), "create", "one-more", "--at", "0"});
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("drop one first"), HasSubstr("batchweave groups")));
}

TEST_F(CliTest, ReclaimTrimsAndRemovesAndSaysWhatItDoesNotUnderstand) {
  Append(3);
  Write(Builder().keys().StreamPrefix() + "data/notes", AsBytes("mine"));
  Stream stream = Stream::Open(env_.Over(*store_), "run").value();
  ASSERT_THAT(stream.CreateGroup("train", Step{2}), IsOk());
  const Json dry = RunJson({"reclaim", "--dry-run", Url()});
  EXPECT_EQ(KeysOf(dry), (std::vector<std::string>{"name", "dry_run", "trimmed_steps", "trimmed_bytes", "objects",
                                                   "bytes", "versions_retired", "uploads_aborted", "not_understood",
                                                   "not_understood_examples"}));
  EXPECT_EQ(dry["trimmed_steps"], 2);
  EXPECT_EQ(dry["objects"], 0);
  const Json done = RunJson({"reclaim", Url()});
  EXPECT_EQ(done["objects"], 2);
  EXPECT_EQ(done["not_understood"], 1);
  EXPECT_THAT(std::string(done["not_understood_examples"][0]), HasSubstr("data/notes"));
  EXPECT_EQ(RunJson({"show", Url()})["first_step"], 2);
  EXPECT_THAT(Run({"reclaim", Url()}).out, AllOf(HasSubstr("removed 0 objects"), HasSubstr("data/notes")));
}

// Covers A7.
TEST_F(CliTest, WhereNothingMayBeDeletedTheRightIsNamedAndALaterRunEndsIt) {
  if (!EnterPrivateMounts()) GTEST_SKIP() << "nothing may be mounted here";
  Append(3);
  Stream stream = Stream::Open(env_.Over(*store_), "run").value();
  ASSERT_THAT(stream.CreateGroup("train", Step{0}), IsOk());
  const auto denied =
      AllOf(HasSubstr("the right to delete is missing"), HasSubstr(DataKey(0)), HasSubstr("given them, run it again"));
  {
    const ScopedMount mount = ScopedMount::ReadOnly(root_.path() + "/" + Builder().keys().DataPrefix());
    ASSERT_TRUE(mount.mounted());
    // What only commits needs no such right.
    EXPECT_EQ(RunJson({"checkpoint", Url(), "train", "first", "1"})["position"], 1);
    EXPECT_EQ(RunJson({"checkpoint", Url(), "train", "second", "2"})["position"], 2);
    EXPECT_EQ(RunJson({"release", Url(), "train", "first"})["released"], true);
    const Ran reclaim = Run({"reclaim", Url()});
    EXPECT_EQ(reclaim.exit_code, ExitCodeOf(ErrorCode::kDenied));
    EXPECT_THAT(reclaim.err, denied);
    EXPECT_EQ(RunJson({"verify", "--deep", Url()})["ok"], true);
    EXPECT_THAT(store_->Stat(DataKey(0)), IsOk());
  }
  EXPECT_EQ(RunJson({"reclaim", Url()})["objects"], 2);
  {
    const ScopedMount mount = ScopedMount::ReadOnly(root_.path() + "/" + Builder().keys().DataPrefix());
    EXPECT_THAT(Run({"delete", "--yes", Url()}).err, HasSubstr("the right to delete is missing"));
  }
  EXPECT_GT(RunJson({"delete", "--yes", Url()})["objects"], 0);
}

TEST_F(CliTest, FenceAsksAndEndsWhoDoesNotComeBack) {
  Append(2);
  const Ran asked = Run({"fence", Url(), "tok-03"});
  EXPECT_EQ(asked.exit_code, kWrongUse);
  EXPECT_THAT(asked.err, HasSubstr("--yes"));
  EXPECT_EQ(Run({"fence", "--yes", Url(), "nobody"}).exit_code, 3);
  EXPECT_EQ(RunJson({"fence", "--yes", Url(), "tok-03"})["fenced"], true);
  EXPECT_EQ(RunJson({"seal", Url()})["sealed"], true);
  EXPECT_THAT(Run({"fence", "--yes", Url(), "tok-03"}).out, HasSubstr("nothing to fence: the stream is sealed"));
}

TEST_F(CliTest, QuarantineIsSetListedAndLifted) {
  Append(3);
  EXPECT_THAT(Run({"quarantine", Url()}).err, HasSubstr("no steps are quarantined"));
  EXPECT_EQ(RunJson({"quarantine", Url(), "1", "2", "--reason", "bad shard"})["in_force"], true);
  const Json listed = RunJson({"quarantine", Url()})["quarantines"][0];
  EXPECT_EQ(KeysOf(listed), (std::vector<std::string>{"first", "end", "reason", "set_at", "lifted_at"}));
  EXPECT_EQ(listed["reason"], "bad shard");
  EXPECT_THAT(Run({"quarantine", Url()}).out, HasSubstr("bad shard"));
  EXPECT_EQ(RunJson({"quarantine", Url(), "1", "2", "--lift"})["in_force"], false);
  EXPECT_EQ(Run({"quarantine", Url(), "1", "2", "--lift"}).exit_code, 3);
  EXPECT_EQ(Run({"quarantine", Url(), "1", "9", "--reason", "x"}).exit_code, kWrongUse);
  EXPECT_EQ(Run({"quarantine", Url(), "1", "2"}).exit_code, kWrongUse);
}

TEST_F(CliTest, DeleteAsksRemovesAllAndMayBeRepeated) {
  Append(3);
  EXPECT_EQ(Run({"delete", Url()}).exit_code, kWrongUse);
  EXPECT_EQ(RunJson({"show", Url()})["next_step"], 3);
  EXPECT_EQ(RunJson({"delete", "--yes", Url()})["deleted"], true);
  EXPECT_EQ(Run({"show", Url()}).exit_code, 3);
  EXPECT_EQ(RunJson({"delete", "--yes", Url()})["objects"], 0);
  EXPECT_EQ(Run({"delete", "--yes", Url("absent")}).exit_code, 3);
}

TEST_F(CliTest, UpgradeSaysThatThereIsNothingToDo) {
  Append(1);
  EXPECT_EQ(RunJson({"upgrade", Url()})["upgraded"], false);
  EXPECT_THAT(Run({"upgrade", Url()}).out, HasSubstr("nothing to upgrade"));
}

TEST_F(CliTest, DoctorTriesOutTheStoreAndSaysWhoWaits) {
  Append(9);
  ASSERT_EQ(Run({"groups", Url(), "create", "train", "--at", "0"}).exit_code, 0);
  Write("run/probe/1234/race/0", AsBytes("left"));
  const Json found = RunJson({"doctor", "--quick", "--clean", Url()});
  EXPECT_EQ(KeysOf(found),
            (std::vector<std::string>{"name", "store", "cleaned_objects", "sizes", "seconds_since_commit",
                                      "steps_per_s", "producers", "groups", "bound", "why"}));
  EXPECT_EQ(found["cleaned_objects"], 1);
  EXPECT_EQ(found["sizes"].size(), 2u);
  EXPECT_EQ(found["groups"][0]["steps_ahead"], 9);
  EXPECT_EQ(found["bound"], "trainer");
  EXPECT_THAT(Run({"doctor", "--quick", Url()}).out,
              AllOf(HasSubstr("keeps every rule"), HasSubstr("bound by trainer")));
}

}  // namespace
}  // namespace batchweave::cli
