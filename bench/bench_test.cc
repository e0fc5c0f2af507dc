// Each benchmark runs, ends in one JSON object with its keys, and counts what it must; times are not looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"

namespace batchweave::bench {
namespace {

std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t begin = output.rfind('\n', end);
  return output.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

constexpr const char* kShort = "--rounds 1 --seconds 0 --mib 1 --steps 2000";

// The figures of a run so short that its times mean nothing; discarded JSON where it failed.
nlohmann::json FiguresOf(const std::string& name, const std::string& options = kShort) {
  const std::string command = std::string(BW_BENCH_PATH) + " " + name + " --json " + options + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  for (int byte = fgetc(pipe.get()); byte != EOF; byte = fgetc(pipe.get())) output.push_back(static_cast<char>(byte));
  return nlohmann::json::parse(LastLine(output), nullptr, false);
}

void ExpectKeys(const nlohmann::json& figures, const std::vector<std::string>& keys) {
  ASSERT_TRUE(figures.is_object());
  for (const std::string& key : keys) EXPECT_TRUE(figures.contains(key)) << key;
}

TEST(BenchTest, ReadTakesOneGetAStep) {
  const nlohmann::json figures = FiguresOf("read");
  ExpectKeys(figures, {"ratio_8mib", "ratio_1mib", "ratio_1mib_inline", "read_amplification_backlog",
                       "read_amplification_live"});
  EXPECT_EQ(figures.value("gets_per_step", 0.0), 1);
}

TEST(BenchTest, OfS3AStepIsOneGetAndACommitOnePut) {
  if (!std::filesystem::exists(BW_BENCH_S3_SERVER)) GTEST_SKIP() << "not installed, or a build without cloud stores";
  const nlohmann::json figures = FiguresOf("cloud");
  ExpectKeys(figures, {"read_ratio_vs_raw", "cpu_ratio_vs_raw", "ingest_ratio_vs_raw", "rss_mib"});
  EXPECT_EQ(figures.value("gets_per_step", 0.0), 1);
  EXPECT_EQ(figures.value("manifest_puts_per_commit", 0.0), 1);
  EXPECT_LE(figures.value("hedge_share", 1.0), 0.05);
}

// Covers E6.
TEST(BenchTest, ALoneProducerPutsOneManifestACommitAndAsMuchAtAnyAge) {
  const nlohmann::json figures = FiguresOf("commit", "--steps 100000");
  EXPECT_EQ(figures.value("manifest_puts_per_commit", 0.0), 1);
  for (const std::string crowd : {"", "_crowded"}) {
    EXPECT_LE(figures.value("bytes_ratio" + crowd, 99.0), 1.4);
    EXPECT_LE(figures.value("requests_ratio" + crowd, 99.0), 1.4);
    EXPECT_TRUE(figures.contains("cost_ratio" + crowd));
  }
}

// Covers E2.
TEST(BenchTest, OpeningALongStreamAtAStepTakesFewRequests) {
  // Enough for an index above what is archived, and no more than a container's /dev/shm may hold.
  const nlohmann::json figures = FiguresOf("open", "--rounds 1 --seconds 0 --steps 70000");
  EXPECT_GE(figures.value("requests", 0), 1);
  EXPECT_LE(figures.value("requests", 0), 6);
  ExpectKeys(figures, {"time_ratio", "time_ratio_crowded"});
}

// Covers D8.
TEST(BenchTest, WhatIsRemovedDecidesWhatReclaimCosts) {
  const nlohmann::json figures = FiguresOf("reclaim", "--rounds 1 --seconds 0 --steps 20000");
  ExpectKeys(figures, {"deletes_per_s_ratio", "trimmed_deletes_per_s_ratio"});
  EXPECT_LE(figures.value("trimmed_requests_ratio", 99.0), 1.4);
  // At this size one archived object more or less to walk, which chance decides, doubles the bytes.
  EXPECT_LE(figures.value("trimmed_bytes_ratio", 99.0), 3.0);
}

// Covers G7, I9.
TEST(BenchTest, ASoakLeaksNothingAndBreaksNothing) {
  const nlohmann::json figures = FiguresOf("soak", "--seconds 5 --processes 6");
  ExpectKeys(figures, {"rss_growth_mib", "kills", "restarts"});
  EXPECT_EQ(figures.value("leaked_bytes", -1), 0);
  EXPECT_EQ(figures.value("violations", -1), 0);
  EXPECT_GE(figures.value("steps", 0), 1);
  EXPECT_GE(figures.value("kills", 0), 1);
}

// Who wins, and how soon, is a matter of the machine.
TEST(BenchTest, ARaceEndsAndGivesItsFigures) {
  const nlohmann::json figures = FiguresOf("race", "--rounds 1 --seconds 7 --processes 4");
  ExpectKeys(figures, {"throughput_ratio_vs_fixed", "longest_wait_ratio_vs_fixed", "fastest_interval_s", "starved"});
  EXPECT_GE(figures.value("attempts_per_commit", 0.0), 1);
}

TEST(BenchTest, ConsumeReadsAStreamThatIsThere) {
  const std::string folder = testing::TempDir() + "/consumed";
  std::filesystem::create_directories(folder);
  const std::string url = folder + "/run";
  {
    const auto env = *OpenEnv(folder);
    Stream stream = *Stream::Create(env->env(), "run");
    Producer producer = *stream.OpenProducer("writer");
    for (int step = 0; step < 5; ++step) {
      GlobalBatch batch({.dp = 1, .cp = 1});
      ASSERT_TRUE(batch.Set({}, Bytes(1000)).ok());
      ASSERT_TRUE(producer.Publish(std::move(batch), {}).ok());
    }
    ASSERT_TRUE(producer.Finish().ok());
    ASSERT_TRUE(stream.Seal().ok());
  }
  const nlohmann::json figures = FiguresOf("consume", "--warm 2 --url " + url);
  EXPECT_EQ(figures.value("steps", 0), 5);
  EXPECT_EQ(figures.value("bytes", 0), 3000);
  ExpectKeys(figures, {"microseconds"});
  std::filesystem::remove_all(folder);
}

TEST(BenchTest, PublishGivesBothRatios) { ExpectKeys(FiguresOf("publish"), {"ratio_tmpfs", "copy_ratio"}); }

}  // namespace
}  // namespace batchweave::bench
