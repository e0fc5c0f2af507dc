#include "examples/demo/run/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "batchweave/testing/matchers.h"
#include "examples/demo/data/testing/small_corpus.h"

namespace batchweave::demo {
namespace {

using ::testing::HasSubstr;

constexpr const char* kReport = R"(echo '{"event":"step","at":7,"share":0.5,"saved":4,"bytes":100,"requests":2}')";

class WorkerTest : public ::testing::Test {
 protected:
  Worker Running(const std::string& script) {
    Worker worker({.name = "shell", .arguments = {"/bin/sh", "-c", script}, .log_path = folder_.path() + "/shell.log"},
                  clock_);
    worker.Start().value();
    return worker;
  }

  // Until `done`, or until an error, or for ten seconds.
  template <typename Done>
  Result<void> Observe(Worker& worker, Done done) {
    const TimePoint deadline = After(clock_.Now(), std::chrono::seconds(10));
    while (!done() && clock_.Now() < deadline) {
      BW_TRY(worker.Observe());
      clock_.SleepUntil(After(clock_.Now(), std::chrono::milliseconds(5)));
    }
    return {};
  }

  TemporaryFolder folder_;
  SystemClock clock_;
};

TEST_F(WorkerTest, AReportIsTakenInAndAnythingElseIsNot) {
  Worker worker = Running(std::string("echo nonsense; echo '{}'; ") + kReport);
  EXPECT_THAT(Observe(worker, [&] { return worker.ended(); }), IsOk());
  EXPECT_EQ(worker.position(), 7);
  EXPECT_EQ(worker.saved(), 4);
  EXPECT_EQ(worker.share(), 0.5);
}

TEST_F(WorkerTest, AKilledOneComesBackAndWhatItGotIsAddedUp) {
  Worker worker = Running(std::string(kReport) + "; sleep 60");
  EXPECT_THAT(Observe(worker, [&] { return worker.position() == 7; }), IsOk());
  worker.Kill(std::chrono::milliseconds(1));
  EXPECT_THAT(Observe(worker, [&] { return worker.bytes() == 200; }), IsOk());
  EXPECT_EQ(worker.restarts(), 1);
  EXPECT_EQ(worker.requests(), 4);
}

TEST_F(WorkerTest, OneThatFailsByItselfIsAnErrorWithItsLastWords) {
  Worker worker = Running("echo the disk is full >&2; exit 1");
  EXPECT_THAT(Observe(worker, [&] { return worker.ended(); }),
              IsError(ErrorCode::kUnavailable, HasSubstr("the disk is full")));
}

}  // namespace
}  // namespace batchweave::demo
