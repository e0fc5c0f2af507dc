#include "tests/fault_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "batchweave/base/fault_point.h"
#include "batchweave/format/manifest.h"
#include "batchweave/lifecycle/quarantine.h"
#include "batchweave/lifecycle/reachable.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/store/temporary_file.h"
#include "batchweave/stream/verify.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/outrun_store.h"
#include "cli/exit_code.h"

namespace batchweave {
namespace {

namespace fs = std::filesystem;

// The group's hold before any process reaches a point.
constexpr Step kHeldBefore{20};
// Behind the newest step: how far back a checkpoint of the tests lies.
constexpr uint64_t kCheckpointDistance = 5;
// So much of the tail is full that the work of one process archives some of it.
constexpr size_t kPadding = 1000;
// However slow the machine: a version that takes many batches at once keeps them in its tail.
constexpr uint64_t kBatchesAVersionMax = 8;
// The trial of overwrites takes most of the time of a small reclaim; the command makes it each time.
const ReclaimOptions kQuickReclaim{.overwrite_probed = true};

std::string ReadNote(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Whole or not at all, as a note may be written by a process that dies.
void WriteNote(const std::string& path, std::string_view text) {
  std::ofstream(path + ".new", std::ios::binary) << text;
  fs::rename(path + ".new", path);
}

// Cursors are a number and padding.
uint64_t NumberOf(const std::optional<Bytes>& cursor) { return cursor ? std::stoull(std::string(AsText(*cursor))) : 0; }

Result<void> PublishOne(Producer& producer, uint64_t number) {
  GlobalBatch batch({.dp = 1, .cp = 1});
  BW_TRY(batch.Set({}, ToBytes(std::to_string(number))));
  const Bytes cursor = ToBytes(fmt::format("{:<{}}", number, kPadding));
  BW_TRY(producer.Publish(std::move(batch), {.cursor = cursor, .metadata = cursor}));
  return {};
}

// So many batches with a version each, but not beyond the end of the source. Returns the producer.
Result<Producer> PublishOneByOne(const FaultWorld& world, Stream& stream, uint64_t batches) {
  Producer producer = BW_TRY(stream.OpenProducer("a", {.reopen = true}));
  const uint64_t first = NumberOf(producer.cursor()) + 1;
  WriteNote(world.note("opened"), std::to_string(first - 1));
  for (uint64_t number = first; number < first + batches && number <= kBatchesInAll; ++number) {
    BW_TRY(PublishOne(producer, number));
    BW_TRY(producer.Flush());
    WriteNote(world.note("acknowledged"), std::to_string(number));
  }
  return producer;
}

Result<Step> NewestStep(Stream& stream) { return BW_TRY(stream.log().ReadNewest()).manifest.next_step; }

Result<void> CheckpointNearTheEnd(Stream& stream, Group& group, bool reclaim) {
  const Step position{BW_TRY(NewestStep(stream)).value - kCheckpointDistance};
  return group.Checkpoint("late", position, {.keep_last = 1, .reclaim = reclaim});
}

int CodeOf(const Result<void>& result) { return result.ok() ? cli::kDone : cli::ExitCodeOf(result.error().code); }

void ExpectReachedIsStored(Stream& stream, ObjectStore& store) {
  const Result<LoggedManifest> newest = stream.log().ReadNewest();
  ASSERT_THAT(newest, IsOk());
  const Result<ReachedKeys> reached = ReachedKeys::Of(stream.log(), newest->manifest);
  ASSERT_THAT(reached, IsOk());
  const StreamKeys& keys = stream.log().keys();
  uint64_t bytes = 0;
  for (const std::string& prefix : {keys.DataPrefix(), keys.ArchivePrefix(), keys.IntentPrefix()}) {
    EXPECT_THAT(ForEachObject(store, prefix,
                              [&](const ListedObject& object) -> Result<void> {
                                const bool is_placeholder = object.key.ends_with("/_") && object.size_bytes == 0;
                                EXPECT_TRUE(is_placeholder || reached->Contains(object.key)) << object.key;
                                bytes += object.size_bytes;
                                return {};
                              }),
                IsOk());
  }
  EXPECT_EQ(bytes, reached->bytes());
}

void ExpectEveryBatchOnce(Stream& stream) {
  const Result<LoggedManifest> newest = stream.log().ReadNewest();
  ASSERT_THAT(newest, IsOk());
  const Manifest& manifest = newest->manifest;
  EXPECT_TRUE(manifest.sealed || manifest.next_step == Step{kBatchesInAll}) << manifest.next_step.value;
  Result<Consumer> rank = stream.OpenConsumer({.position = manifest.first_step});
  ASSERT_THAT(rank, IsOk());
  for (Step step = manifest.first_step; step < manifest.next_step; step = step + 1) {
    const Result<std::optional<RankBatch>> batch = rank->Next();
    ASSERT_THAT(batch, IsOk());
    EXPECT_EQ(AsText((*batch)->slices().front().bytes), std::to_string(step.value + 1));
  }
}

}  // namespace

FaultWorld::FaultWorld() {
  fs::create_directory(store());
  FaultProcess process(*this);
  Result<Stream> stream = Stream::Create(process.env(), "run");
  EXPECT_THAT(stream, IsOk());
  EXPECT_THAT(stream->CreateGroup("train", Step{0}), IsOk());
  EXPECT_THAT(PublishOneByOne(*this, *stream, kBatchesBefore), IsOk());
  Result<Group> group = stream->OpenGroup("train", {.start = kHeldBefore});
  EXPECT_THAT(group, IsOk());
  EXPECT_THAT(group->Checkpoint("early", kHeldBefore), IsOk());
  EXPECT_THAT(group->Checkpoint("spare", kHeldBefore), IsOk());
  EXPECT_FALSE(stream->log().ReadNewest()->manifest.archives.empty());
}

FaultWorld::FaultWorld(const FaultWorld& of) {
  // No file of a store is ever changed, but replaced.
  fs::copy(of.store(), store(), fs::copy_options::recursive | fs::copy_options::create_hard_links);
  fs::copy(of.note("acknowledged"), note("acknowledged"));
}

FaultProcess::FaultProcess(const FaultWorld& world, Fault fault)
    : local_(*LocalStore::Open(world.store(), {.durability = Durability::kNone})), store_(*local_, std::move(fault)) {}

Result<void> PublishAll(const FaultWorld& world, Env env) {
  Stream stream = BW_TRY(Stream::Open(env, "run"));
  Producer producer = BW_TRY(PublishOneByOne(world, stream, 3));
  for (uint64_t number = producer.committed_seq() + 1; number <= kBatchesInAll; ++number) {
    BW_TRY(PublishOne(producer, number));
    if (number % kBatchesAVersionMax == 0) BW_TRY(producer.Flush());
  }
  BW_TRY(producer.Finish());
  WriteNote(world.note("acknowledged"), std::to_string(kBatchesInAll));
  return {};
}

Result<void> PublishAllOutrun(const FaultWorld& world, Env env) {
  Stream rival = BW_TRY(Stream::Open(env, "run"));
  const auto commits = [&] {
    const Step at = rival.log().ReadNewest()->manifest.first_step;
    static_cast<void>(SetQuarantine(rival.log(), {.first = at, .end = at + 1}, "a rival's", kForever));
    static_cast<void>(LiftQuarantine(rival.log(), {.first = at, .end = at + 1}, kForever));
  };
  OutrunStore store(env.store, {.calls = kCallCreate, .key = KeyContains("/manifest/")}, {1, 3}, commits);
  return PublishAll(world, {.store = store, .clock = env.clock, .random = env.random, .threads = env.threads});
}

Result<void> TakeTicket(const FaultWorld& world, Env env) {
  Stream stream = BW_TRY(Stream::Open(env, "run"));
  Producer producer = BW_TRY(stream.OpenProducer("a"));
  WriteNote(world.note("ticket"), AsText(EncodePartTicket(BW_TRY(producer.NextTicket({.dp = 2, .cp = 1})))));
  return {};
}

Result<void> WriteTheParts(const FaultWorld& world, Env env) {
  Stream stream = BW_TRY(Stream::Open(env, "run"));
  const PartTicket ticket = BW_TRY(DecodePartTicket(ToBytes(ReadNote(world.note("ticket")))));
  for (const uint32_t dp : {0u, 1u}) {
    GlobalBatch slices({.dp = 1, .cp = 1});
    BW_TRY(slices.Set({}, ToBytes("part")));
    BW_TRY(stream.WritePart(ticket, {.dp_begin = dp, .dp_count = 1, .cp_begin = 0, .cp_count = 1}, slices));
  }
  return {};
}

Result<void> Train(const FaultWorld&, Env env) {
  Stream stream = BW_TRY(Stream::Open(env, "run"));
  const Step start = BW_TRY(stream.log().ReadNewest()).manifest.first_step;
  Group group = BW_TRY(stream.OpenGroup("train", {.start = start}));
  Consumer rank = BW_TRY(stream.OpenConsumer(
      {.position = start, .group = group.name(), .session = group.session(), .prefetch_steps_max = 0}));
  for (int step = 0; step < 3; ++step) {
    BW_TRY(rank.Next());
    BW_TRY(group.ReportProgress(rank.position()));
  }
  return CheckpointNearTheEnd(stream, group, true);
}

Result<void> LetGo(const FaultWorld&, Env env) {
  Stream stream = BW_TRY(Stream::Open(env, "run"));
  Group group = BW_TRY(stream.OpenGroup("train", {.start = kHeldBefore}));
  return CheckpointNearTheEnd(stream, group, false);
}

Result<void> Succeed(const FaultWorld& world, Env env) {
  Stream stream = BW_TRY(Stream::Open(env, "run"));
  BW_TRY(PublishOneByOne(world, stream, kBatchesMeanwhile));
  const Step newest = BW_TRY(NewestStep(stream));
  Group group = BW_TRY(stream.OpenGroup("train", {.start = newest}));
  BW_TRY(CheckpointNearTheEnd(stream, group, false));
  BW_TRY(Reclaim(stream.log(), kQuickReclaim));
  return {};
}

ChildProcess StartWork(const FaultWorld& world, const Work& work, const std::string& point, const Fault& fault) {
  return ChildProcess([&] {
    if (!point.empty() && !SetFaultPoint(point)) return false;
    Result<void> done;
    {
      FaultProcess process(world, fault);
      done = work(world, process.env());
    }
    if (!done.ok()) fmt::print(stderr, "ended: {}\n", ToString(done.error()));
    _exit(CodeOf(done));
  });
}

ChildProcess StartCommand(const std::vector<std::string>& arguments, const std::string& point) {
  return ChildProcess([&] {
    std::vector<const char*> argv{BATCHWEAVE_BINARY};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    argv.push_back(nullptr);
    if (!point.empty()) setenv("BATCHWEAVE_FAULT_POINT", point.c_str(), 1);
    execv(argv.front(), const_cast<char* const*>(argv.data()));
    return false;
  });
}

std::map<std::string, Bytes> Slots(const FaultWorld& world) {
  FaultProcess process(world);
  std::map<std::string, Bytes> slots;
  Result<Stream> stream = Stream::Open(process.env(), "run");
  if (!stream.ok()) return slots;
  ObjectStore& store = process.env().store;
  EXPECT_THAT(ForEachObject(store, stream->log().keys().ManifestPrefix(),
                            [&](const ListedObject& object) -> Result<void> {
                              slots[object.key] = BW_TRY(store.Read(object.key));
                              return {};
                            }),
              IsOk());
  return slots;
}

void ExpectSlotsAreTaken(const FaultWorld& world, const std::map<std::string, Bytes>& before) {
  const std::map<std::string, Bytes> now = Slots(world);
  for (const auto& [key, bytes] : before) {
    const auto found = now.find(key);
    ASSERT_NE(found, now.end()) << "a slot is open again: " << key;
    EXPECT_TRUE(found->second == bytes || DecodeTombstone(found->second).ok()) << "a slot was won again: " << key;
  }
}

uint64_t Noted(const FaultWorld& world, std::string_view name) { return std::stoull(ReadNote(world.note(name))); }

void ExpectNotedIsCommitted(const FaultWorld& world) {
  FaultProcess process(world);
  Result<Stream> stream = Stream::Open(process.env(), "run");
  ASSERT_THAT(stream, IsOk());
  const Result<Step> newest = NewestStep(*stream);
  ASSERT_THAT(newest, IsOk());
  EXPECT_GE(newest->value, Noted(world, "acknowledged"));
}

void ExpectWholeAtTheEnd(const FaultWorld& world) {
  FaultProcess process(world);
  // Where a stream is sealed, its source ended with it.
  const Result<void> published = PublishAll(world, process.env());
  EXPECT_TRUE(published.ok() || FailedWith(published, ErrorCode::kSealed)) << ToString(published.error());
  Result<Stream> stream = Stream::Open(process.env(), "run");
  ASSERT_THAT(stream, IsOk());
  ASSERT_THAT(Reclaim(stream->log(), kQuickReclaim), IsOk());
  const Result<VerifyReport> report = VerifyStream(*stream, {.deep = true});
  ASSERT_THAT(report, IsOk());
  for (const Finding& finding : report->findings) {
    EXPECT_NE(finding.kind, Finding::Kind::kBroken)
        << finding.invariant << " " << finding.message << " " << finding.key;
  }
  EXPECT_EQ(report->unnamed_objects, 0u);
  ExpectReachedIsStored(*stream, process.env().store);
  ExpectEveryBatchOnce(*stream);
  const fs::path temporaries = fs::path(world.store()) / kTemporaryFolder;
  EXPECT_TRUE(!fs::exists(temporaries) || fs::is_empty(temporaries));
}

}  // namespace batchweave
