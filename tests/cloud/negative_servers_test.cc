// Servers that break a rule of docs/protocol.md are found out, and the rule is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchweave/store/full_probe.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/local_server.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

Result<void> ProbeInFull(const LocalServer& server) {
  const EnvOptions options{.storage_options = server.options()};
  const std::unique_ptr<OwnedEnv> first = BW_TRY(OpenEnv(server.Url("probed"), options));
  const std::unique_ptr<OwnedEnv> second = BW_TRY(OpenEnv(server.Url("probed"), options));
  BW_TRY(ProbeFully(first->env(), second->env().store, "run/probe/1/",
                    {.time_per_size = std::chrono::milliseconds(50), .object_bytes_max = uint64_t{1} << 20}));
  return {};
}

// Covers F1.
TEST(NegativeServersTest, OneThatTakesNoNoticeOfConditionsIsRefusedAtCreate) {
  const std::unique_ptr<LocalServer> server = LocalServer::S3rver();
  if (server == nullptr) GTEST_SKIP() << "not installed";
  const auto broken = IsError(ErrorCode::kUnsuitableStore, HasSubstr("(create-only put): a key was created twice"));
  EXPECT_THAT(ProbeInFull(*server), broken);
  const auto env = OpenEnv(server->Url("runs"), {.storage_options = server->options()}).value();
  EXPECT_THAT(Stream::Create(env->env(), "run"), broken);
}

auto FindsARace() {
  return IsError(ErrorCode::kUnsuitableStore, ::testing::ContainsRegex("create-only put.*of 32 racing creators"));
}

// Looks whether a key is there, then writes it: nothing is wrong with it where one asks after another.
// Covers F1.
TEST(NegativeServersTest, OneWhereCreatorsRaceIsFoundByTheFullProbeAlone) {
  const std::unique_ptr<LocalServer> server = LocalServer::S3sFs();
  if (server == nullptr) GTEST_SKIP() << "not installed";
  const auto env = OpenEnv(server->Url("runs"), {.storage_options = server->options()}).value();
  EXPECT_THAT(Stream::Create(env->env(), "run"), IsOk());
  EXPECT_THAT(ProbeInFull(*server), FindsARace());
}

// The same each time, since each waits for another.
// Covers F1.
TEST(NegativeServersTest, OneWhereCreatorsAlwaysRaceIsFoundByTheFullProbe) {
  const std::unique_ptr<LocalServer> server = LocalServer::GcsStubWith("races");
  EXPECT_THAT(ProbeInFull(*server), FindsARace());
}

TEST(NegativeServersTest, OneThatListsLateIsNamed) {
  const std::unique_ptr<LocalServer> server = LocalServer::GcsStubWith("lists-late");
  EXPECT_THAT(ProbeInFull(*server), IsError(ErrorCode::kUnsuitableStore, HasSubstr("is not listed")));
}

TEST(NegativeServersTest, OneThatListsOutOfOrderIsNamed) {
  const std::unique_ptr<LocalServer> server = LocalServer::GcsStubWith("lists-backwards");
  EXPECT_THAT(ProbeInFull(*server), IsError(ErrorCode::kUnsuitableStore, HasSubstr("(list)")));
}

// Covers F2.
TEST(NegativeServersTest, OneThatCutsRangesIsNamed) {
  const std::unique_ptr<LocalServer> server = LocalServer::GcsStubWith("cuts-ranges");
  EXPECT_THAT(ProbeInFull(*server), IsError(ErrorCode::kUnsuitableStore, HasSubstr("ranged reads")));
}

}  // namespace
}  // namespace batchweave
