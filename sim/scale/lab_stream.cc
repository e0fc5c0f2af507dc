#include "sim/scale/lab_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/log/archive_history.h"
#include "batchweave/log/change.h"
#include "batchweave/log/pending_commit.h"
#include "batchweave/log/producer_rows.h"
#include "batchweave/producer/commit_plan.h"
#include "batchweave/producer/pack.h"

namespace batchweave::sim {
namespace {

constexpr std::string_view kPrefix = "producer-";
constexpr std::string_view kPast = "past";  // Who published the history.
constexpr size_t kEntriesAVersion = 1000;
constexpr size_t kCursorBytes = 16;

class Builder {
 public:
  Builder(Env env, LabServer& server, LabStream& stream)
      : server_(server),
        stream_(stream),
        log_(env, stream.keys, stream.stream_json_hash),
        newest_(*log_.ReadNewest()) {}

  void Open(size_t producers) {
    Manifest next = *BeginNext(newest_);
    stream_.incarnation = {next.version.value};
    for (size_t i = 0; i < producers; ++i) AddRow(next, LabProducerName(i), i + 1);
    AddRow(next, std::string(kPast), producers + 1);
    Commit(std::move(next));
  }

  void Append(uint64_t steps) {
    GlobalBatch batch({.dp = 1, .cp = 1});
    BW_CHECK(batch.SetCopy({}, AsBytes("history")).ok());
    const TgbIdentity identity{.stream_id = stream_.keys.stream_id,
                               .producer = std::string(kPast),
                               .incarnation = stream_.incarnation,
                               .seq = 1};
    const PublishOptions options{.cursor = Bytes(kCursorBytes)};
    CommitRun run{.producer = std::string(kPast), .incarnation = stream_.incarnation};
    run.entries.resize(kEntriesAVersion, PackBatch(identity, batch, options, 1).entry);
    RowTable table;
    for (uint64_t made = 0; made < steps; made += run.entries.size()) {
      run.entries.resize(std::min<uint64_t>(kEntriesAVersion, steps - made));
      for (Entry& entry : run.entries) {
        entry.seq = ++seq_;
        entry.parts[0].nonce = log_.env().random.Next();
      }
      Manifest next = *BeginNext(newest_);
      BW_CHECK(BringRows(log_, table, {&run.producer, 1}, next).ok());
      Commit(PlanCommit(std::move(next), {&run, 1}, 0).next);
    }
    stream_.next_step = newest_.manifest.next_step;
  }

 private:
  void AddRow(Manifest& next, std::string name, uint64_t nonce) const {
    next.rows.push_back(
        {.producer = std::move(name), .incarnation = stream_.incarnation, .opening_nonce = nonce, .seq = 0});
  }

  void Commit(Manifest next) {
    std::ranges::sort(next.rows, {}, &ProducerRow::producer);
    BW_CHECK(ArchiveHistory(log_, next, newest_.manifest.next_step, kForever).ok());
    const std::string before = newest_.manifest.version.value > 0 ? log_.keys().Manifest(newest_.manifest.version) : "";
    PendingCommit commit(log_, newest_, std::move(next));
    BW_CHECK(*commit.Resolve(kForever) == PendingCommit::Outcome::kCommitted);
    newest_ = commit.committed();
    // Retired, as reclaim would have it: nobody reads it, and a search for the newest counts on its being there.
    if (!before.empty()) BW_CHECK(server_.Put(before, std::make_shared<const Bytes>(), PutMode::kOverwrite).ok());
  }

  LabServer& server_;
  LabStream& stream_;
  ManifestLog log_;
  LoggedManifest newest_;
  uint64_t seq_ = 0;
};

}  // namespace

std::string LabProducerName(size_t index) { return fmt::format("{}{:05}", kPrefix, index); }

std::optional<size_t> LabProducerIndex(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  size_t index = 0;
  const std::string_view digits = name.substr(kPrefix.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), index);
  return index;
}

LabStream MakeLabStream(Env env, LabServer& server, size_t producers, uint64_t steps) {
  const Bytes json = ToBytes("the laboratory's");
  LabStream stream{.keys = {.name = "lab", .stream_id = {.bits = {.high = env.random.Next(), .low = 1}}},
                   .stream_json_hash = HashOf128(json)};
  Builder builder(env, server, stream);
  builder.Open(producers);
  builder.Append(steps);
  return stream;
}

}  // namespace batchweave::sim
