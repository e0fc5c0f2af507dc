// Each benchmark runs, ends in one JSON object with its keys, and counts what it must; times are not looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace batchweave::bench {
namespace {

std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t begin = output.rfind('\n', end);
  return output.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

// The figures of a run so short that its times mean nothing; discarded JSON where it failed.
nlohmann::json FiguresOf(const std::string& name) {
  const std::string command =
      std::string(BW_BENCH_PATH) + " " + name + " --json --rounds 1 --seconds 0 --mib 1 2>/dev/null";
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

TEST(BenchTest, ALoneProducerPutsOneManifestACommit) {
  EXPECT_EQ(FiguresOf("commit").value("manifest_puts_per_commit", 0.0), 1);
}

TEST(BenchTest, OpeningAtAStepTakesFewRequests) {
  const nlohmann::json figures = FiguresOf("open");
  EXPECT_GE(figures.value("requests", 0), 1);
  EXPECT_LE(figures.value("requests", 0), 6);
}

TEST(BenchTest, PublishGivesBothRatios) { ExpectKeys(FiguresOf("publish"), {"ratio_tmpfs", "copy_ratio"}); }

}  // namespace
}  // namespace batchweave::bench
