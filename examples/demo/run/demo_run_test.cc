// The demo as a person runs it, on a corpus of a few pages: all its programs, kills and checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "batchweave/testing/matchers.h"
#include "examples/demo/data/testing/small_corpus.h"
#include "examples/demo/process/child.h"

namespace batchweave::demo {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// A copy of the small corpus, to run in.
class DemoRunTest : public ::testing::Test {
 protected:
  DemoRunTest() {
    std::filesystem::copy(SmallCorpus::Instance().directory() + "/raw", folder_.path() + "/raw",
                          std::filesystem::copy_options::recursive);
  }

  Finished Run(const std::string& directory, const std::string& server = "") {
    Child::Command command{.name = "demo_run",
                           .arguments = {DEMO_RUN, directory, "--sequence-length", "128", "--seconds", "5",
                                         "--restart-after-ms", "200", "--batchweave", BATCHWEAVE},
                           .log_path = folder_.path() + "/demo_run.log"};
    if (!server.empty()) {
      // The server's URL is told to the shell alone.
      const std::vector<std::string> around = {WITH_SERVER, server, "bash", "-c", R"("$@" --store "$STORE_URL")", "-"};
      command.arguments.insert(command.arguments.begin(), around.begin(), around.end());
    }
    return RunToEnd(command, clock_).value();
  }

  void ExpectAllArrived(const Finished& finished) const {
    ASSERT_EQ(finished.status, 0) << LastWords() << "\n" << ::testing::PrintToString(finished.lines);
    EXPECT_THAT(finished.lines, Contains(ContainsRegex(" [1-9][0-9]* of them made in parts")));
    const auto json = nlohmann::json::parse(finished.lines.back());
    EXPECT_GT(json["samples"], 0);
    EXPECT_EQ(json["delivered"], json["samples"]);
    EXPECT_EQ(json["missing"], 0);
    EXPECT_EQ(json["duplicates"], 0);
    EXPECT_EQ(json["restarts"], 4);
    EXPECT_EQ(json["statistic_identical"], true);
    EXPECT_GT(json["steps"], 20);
    EXPECT_GT(json["reclaimed_bytes"], 0);
    EXPECT_EQ(json["leaked_bytes"], 0);
    EXPECT_GT(json["seconds"], 0);
  }

  std::string LastWords() const { return LastLineOf(folder_.path() + "/demo_run.log"); }

  TemporaryFolder folder_;
  SystemClock clock_;
};

// Covers G4.
TEST_F(DemoRunTest, EachSampleArrivesOnceThoughProducersAndRanksAreKilled) { ExpectAllArrived(Run(folder_.path())); }

class DemoOnServerTest : public DemoRunTest, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Demo, DemoOnServerTest, ::testing::Values("s3", "minio", "gs", "az"));

// Covers G4.
TEST_P(DemoOnServerTest, TheSameOnAServerOnThisMachine) {
  const std::map<std::string, std::string> programs{
      {"s3", "/versitygw"}, {"minio", "/minio"}, {"gs", ""}, {"az", "/node"}};
  if (!std::filesystem::exists(SERVERS + programs.at(GetParam()))) {
    GTEST_SKIP() << "the server is not installed, or this build has no cloud stores";
  }
  ExpectAllArrived(Run(folder_.path(), GetParam()));
}

TEST_F(DemoRunTest, WithoutDataItSaysHowToGetIt) {
  const TemporaryFolder empty;
  EXPECT_EQ(Run(empty.path()).status, 1);
  EXPECT_THAT(LastWords(), HasSubstr("fetch.sh"));
}

}  // namespace
}  // namespace batchweave::demo
