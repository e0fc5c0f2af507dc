#include "examples/demo/process/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "batchweave/testing/matchers.h"
#include "examples/demo/data/testing/small_corpus.h"

namespace batchweave::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ChildTest : public ::testing::Test {
 protected:
  Child::Command Shell(const std::string& script) const {
    return {.name = "shell", .arguments = {"/bin/sh", "-c", script}, .log_path = folder_.path() + "/shell.log"};
  }

  TemporaryFolder folder_;
  SystemClock clock_;
};

TEST_F(ChildTest, ItsLinesAndItsStatusAreTold) {
  const Finished finished = RunToEnd(Shell("echo one; echo two; echo cause >&2; exit 3"), clock_).value();
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.lines, ElementsAre("one", "two"));
  EXPECT_EQ(LastLineOf(folder_.path() + "/shell.log"), "cause");
}

TEST_F(ChildTest, ALineThatWasCutShortIsNoLine) {
  EXPECT_THAT(RunToEnd(Shell("echo whole; printf ha"), clock_).value().lines, ElementsAre("whole"));
}

TEST_F(ChildTest, AProgramThatDoesNotExistEndsWith127) {
  Child::Command command = Shell("");
  command.arguments = {folder_.path() + "/nothing"};
  EXPECT_EQ(RunToEnd(command, clock_).value().status, 127);
  EXPECT_THAT(LastLineOf(command.log_path), HasSubstr("No such file"));
}

TEST_F(ChildTest, KillingIsSureAndToldAsTheSignal) {
  Child child = Child::Start(Shell("trap '' TERM; while true; do sleep 1; done")).value();
  child.Kill();
  EXPECT_EQ(child.Ended(), 128 + SIGKILL);
}

}  // namespace
}  // namespace batchweave::demo
