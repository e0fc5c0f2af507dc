// Committers that take along what others have announced: one call after the other in one thread.
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "batchweave/log/change.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/forwarding_store.h"
#include "batchweave/testing/leftover_store.h"
#include "batchweave/testing/outrun_store.h"
#include "batchweave/testing/producer_process.h"

namespace batchweave {
namespace {

class CombiningTest : public ::testing::Test {
 protected:
  ManifestLog Truth() { return {env_.Over(memory_), stream_.keys(), stream_.stream_json_hash()}; }
  Manifest Newest() { return Truth().ReadNewest()->manifest; }
  std::vector<std::string> Cursors() {
    std::vector<std::string> cursors;
    for (const Entry& entry : Newest().tail) cursors.push_back(entry.producer + std::string(AsText(entry.cursor)));
    return cursors;
  }
  std::vector<std::string> Intents() {
    std::vector<std::string> keys;
    EXPECT_THAT(ForEachObject(memory_, stream_.keys().IntentPrefix(),
                              [&](const ListedObject& object) -> Result<void> {
                                keys.push_back(object.key);
                                return {};
                              }),
                IsOk());
    return keys;
  }
  // Another committer wins the slot that somebody is about to try.
  std::function<void()> Tick() {
    return [this] {
      ManifestLog log = Truth();
      ASSERT_THAT(CommitChange(log, kForever, [](Manifest&) -> Result<bool> { return true; }), IsOk());
    };
  }
  static CallFilter Commits() { return {.calls = kCallCreate, .key = KeyContains("/manifest/")}; }
  static CallFilter Asks() { return {.calls = kCallStat, .key = KeyContains("/intent/")}; }
  // Commits for all, as who has committed for others does.
  void CommitForAll(ProducerProcess& process) {
    const TimePoint now = env_.clock.Now();
    process.law().OnAttempt({.began = now, .ended = now, .won = true, .taken = 1}, /*unit=*/0.5);
    process.Commit();
  }

  // Lets `other` commit a batch of its own, "b1", and one that another process has announced, "a1".
  void LetServe(ProducerProcess& other) {
    const ProducerRef b = *other.Open("b");
    other.Provide(b, 1);
    OutrunStore taken(memory_, Asks(), {1}, [&] { CommitForAll(other); });
    OutrunStore outrun(taken, Commits(), {2}, Tick());
    ProducerProcess process(env_, outrun, stream_);
    const ProducerRef a = *process.Open("a");
    process.Provide(a, 1);
    process.Commit();
    process.Commit();
    ASSERT_TRUE(other.law().serves());
  }

  MemoryStore memory_;
  StreamBuilder stream_{memory_};
  TestEnv env_;
};

// Covers I5, I7.
TEST_F(CombiningTest, WhatIsAnnouncedIsCommittedByWhoCommitsNextAndAcknowledged) {
  ProducerProcess other(env_, memory_, stream_);
  const ProducerRef b = *other.Open("b");
  other.Provide(b, 1);
  OutrunStore taken(memory_, Asks(), {1}, [&] { CommitForAll(other); });
  OutrunStore outrun(taken, Commits(), {2}, Tick());
  ProducerProcess process(env_, outrun, stream_);
  const ProducerRef a = *process.Open("a");
  process.Provide(a, 1);
  process.Commit();  // Lost.
  EXPECT_FALSE(process.IsCommitted(a));
  process.Commit();  // Announces, waits for its turn, and finds that it was taken.
  EXPECT_TRUE(process.IsCommitted(a));
  EXPECT_TRUE(other.IsCommitted(b));
  EXPECT_EQ(Cursors(), (std::vector<std::string>{"b1", "a1"}));
  EXPECT_EQ(process.pipeline().StatsOf(*a).commits, 0u);
  EXPECT_THAT(Intents(), ::testing::IsEmpty());  // Who took it has deleted it.
}

TEST_F(CombiningTest, ForeignKeysBesideAnnouncementsArePassedOver) {
  const std::string folder = stream_.keys().IntentPrefix();
  const std::vector<std::string> foreign = {folder + "a/note", folder + "a/open-x", folder + "what is it"};
  for (const std::string& key : foreign) ASSERT_THAT(PutBytes(memory_, key, AsBytes("x"), PutMode::kCreate), IsOk());
  LeftoverStore leftover(memory_, folder + "a/.intent.sgwtmp.17");
  ProducerProcess other(env_, leftover, stream_);
  LetServe(other);
  EXPECT_EQ(Cursors(), (std::vector<std::string>{"b1", "a1"}));
  EXPECT_EQ(Intents(), foreign);
}

// Each of a fleet that starts at once knows nothing yet.
TEST_F(CombiningTest, WhoBeginsAmongManyAnnouncesBeforeItTries) {
  constexpr int kFleet = 8;
  ProducerProcess fleet(env_, memory_, stream_);
  std::vector<ProducerRef> producers;
  for (int i = 0; i < kFleet; ++i) producers.push_back(*fleet.Open("p" + std::to_string(i)));
  for (const ProducerRef& producer : producers) fleet.Provide(producer, 1);
  fleet.Commit();  // One version of eight producers.
  ProducerProcess other(env_, memory_, stream_);
  ASSERT_THAT(other.Open("other"), IsOk());
  // Of its opening, and of its batch.
  OutrunStore taken(memory_, Asks(), {1, 2}, [&] {
    EXPECT_EQ(Intents().size(), 1u);
    CommitForAll(other);
  });
  ProducerProcess process(env_, taken, stream_);
  const ProducerRef a = *process.Open("a");
  process.Provide(a, 1);
  process.Commit();
  EXPECT_TRUE(process.IsCommitted(a));
  EXPECT_EQ(process.pipeline().StatsOf(*a).commits, 0u);
  EXPECT_EQ(process.pipeline().StatsOf(*a).commits_lost, 0u);
}

TEST_F(CombiningTest, WhatIsWantedByATimeIsDueThenAndCountedWhereItIsLate) {
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef hasty = *process.Open("hasty", {.max_staleness = std::chrono::seconds(2)});
  const ProducerRef patient = *process.Open("patient");
  process.Provide(patient, 1);
  EXPECT_EQ(process.pipeline().CollectRuns().due_at, kForever);
  const TimePoint uploaded_at = env_.clock.Now();
  process.Provide(hasty, 1);
  env_.clock.Advance(std::chrono::seconds(1));
  process.Provide(hasty, 2);
  EXPECT_EQ(process.pipeline().CollectRuns().due_at, After(uploaded_at, std::chrono::seconds(2)));
  env_.clock.Advance(std::chrono::milliseconds(1500));
  process.Commit();
  EXPECT_TRUE(process.IsCommitted(hasty));
  EXPECT_EQ(process.pipeline().StatsOf(*hasty).late, 1u);
  EXPECT_EQ(process.pipeline().StatsOf(*hasty).staleness_max, std::chrono::milliseconds(2500));
  EXPECT_EQ(process.pipeline().StatsOf(*patient).late, 0u);
}

class ManifestReadHook : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<Bytes> Read(std::string_view key) override {
    if (before && key.find("/manifest/") != std::string_view::npos) std::exchange(before, nullptr)();
    return base().Read(key);
  }
  std::function<void()> before;
};

// A glimpse has the rows of those that were waiting when it was asked for, and says nothing of others. Found by the simulator.
// Covers I6.
TEST_F(CombiningTest, WhoseBatchIsUploadedBesideAGlimpseIsNotTakenForFenced) {
  ManifestReadHook hook(memory_);
  ProducerProcess other(env_, memory_, stream_);
  const ProducerRef b = *other.Open("b");
  other.Provide(b, 1);
  ProducerRef late;
  ProducerProcess* ours = nullptr;
  OutrunStore taken(hook, Asks(), {1}, [&] {
    CommitForAll(other);
    hook.before = [&] { ours->Provide(late, 1); };
  });
  OutrunStore outrun(taken, Commits(), {3}, Tick());  // Two openings, and the first try.
  ProducerProcess process(env_, outrun, stream_);
  ours = &process;
  const ProducerRef a = *process.Open("a");
  late = *process.Open("late");
  process.Provide(a, 1);
  process.Commit();  // Lost.
  process.Commit();  // Announces, and finds that it was taken, by a glimpse.
  EXPECT_TRUE(process.IsCommitted(a));
  EXPECT_EQ(hook.before, nullptr);
  EXPECT_FALSE(late->end.has_value());
  process.Commit();
  EXPECT_TRUE(process.IsCommitted(late));
}

// The successor's seq is as high as the zombie's, and says nothing of its batches.
// Covers I6, M2, B2.
TEST_F(CombiningTest, AnAnnouncementOfWhoIsFencedIsNeitherTakenNorAcknowledged) {
  ProducerProcess other(env_, memory_, stream_);
  ProducerProcess third(env_, memory_, stream_);
  const ProducerRef b = *other.Open("b");
  other.Provide(b, 1);
  const auto succeed = [&] {
    const ProducerRef successor = *third.Open("a");
    third.Provide(successor, 7);
    third.Commit();
    CommitForAll(other);
  };
  OutrunStore taken(memory_, Asks(), {1}, succeed);
  OutrunStore outrun(taken, Commits(), {2}, Tick());
  ProducerProcess process(env_, outrun, stream_);
  const ProducerRef a = *process.Open("a");
  process.Provide(a, 1);
  process.Commit();
  process.Commit();
  EXPECT_THAT(process.pipeline().AwaitCommitted(*a, kForever), IsError(ErrorCode::kFenced));
  EXPECT_EQ(Cursors(), (std::vector<std::string>{"a7", "b1"}));
  EXPECT_THAT(Intents(), ::testing::IsEmpty());
}

// What was announced and is taken late is what its producer commits meanwhile.
// Covers I5, M15.
TEST_F(CombiningTest, AnAnnouncementThatIsReadBeforeItsOwnerCommitsIsTakenOnce) {
  OutrunStore outrun(memory_, Commits(), {2}, Tick());
  ProducerProcess process(env_, outrun, stream_);
  const ProducerRef a = *process.Open("a");
  process.Provide(a, 1);
  process.Commit();  // Lost: the next call announces it and, at its turn, commits it together with the next batch.
  process.Provide(a, 2);
  // The other has read the announcement, and built on a version without it, when the owner commits.
  OutrunStore late(memory_, Commits(), {2}, [&] { process.Commit(); });
  OutrunStore early(late, {.calls = kCallList, .key = KeyContains("/intent/")}, {1}, [&] {
    const std::vector<Entry> batches = process.pipeline().CollectRuns().runs.at(0).entries;
    const BatchIntent intent{.stream_id = stream_.keys().stream_id,
                             .producer = "a",
                             .incarnation = a->opened.incarnation,
                             .last_seq = 2,
                             .entries = batches};
    const std::string key = stream_.keys().Intent("a", a->opened.incarnation, 2, 77);
    ASSERT_THAT(PutBytes(memory_, key, EncodeIntent(intent), PutMode::kCreate), IsOk());
  });
  ProducerProcess other(env_, early, stream_);
  const ProducerRef b = *other.Open("b");
  other.Provide(b, 1);
  CommitForAll(other);
  EXPECT_FALSE(other.IsCommitted(b));  // Lost.
  other.Commit();
  EXPECT_TRUE(other.IsCommitted(b));
  EXPECT_TRUE(process.IsCommitted(a));
  EXPECT_EQ(Cursors(), (std::vector<std::string>{"a1", "a2", "b1"}));
  EXPECT_THAT(Intents(), ::testing::IsEmpty());
}

TEST_F(CombiningTest, WhatCannotBeReadAsAnAnnouncementIsLeftAlone) {
  const StreamKeys& keys = stream_.keys();
  const BatchIntent foreign{.stream_id = {{.high = 9, .low = 9}}, .producer = "a", .incarnation = {1}, .finish = true};
  const std::pair<std::string, Bytes> objects[] = {{keys.Intent("a", {1}, 1, 1), ToBytes("garbage")},
                                                   {keys.Intent("c", {1}, 1, 1), EncodeIntent(foreign)},
                                                   {keys.Opening("d", {1}, 1), Bytes()},
                                                   {keys.IntentPrefix() + "_", Bytes()}};
  for (const auto& [key, bytes] : objects) ASSERT_THAT(PutBytes(memory_, key, bytes, PutMode::kCreate), IsOk());
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef b = *process.Open("b");
  process.Provide(b, 1);
  CommitForAll(process);  // More of them than it reckoned with: it leaves them to others, by a lot.
  process.Commit();
  EXPECT_EQ(Cursors(), std::vector<std::string>{"b1"});
}

TEST_F(CombiningTest, ATheEndOfASourceIsAnnouncedWithItsLastBatch) {
  ProducerProcess other(env_, memory_, stream_);
  const ProducerRef b = *other.Open("b");
  other.Provide(b, 1);
  OutrunStore taken(memory_, Asks(), {1}, [&] { CommitForAll(other); });
  OutrunStore outrun(taken, Commits(), {2}, Tick());
  ProducerProcess process(env_, outrun, stream_);
  const ProducerRef a = *process.Open("a");
  process.Provide(a, 1);
  // Wanted, and not waited for.
  EXPECT_THAT(process.pipeline().AwaitFinished(*a, env_.clock.Now()), IsError(ErrorCode::kStalled));
  process.Commit();
  process.Commit();
  EXPECT_THAT(process.pipeline().AwaitFinished(*a, kForever), IsOk());
  EXPECT_THAT(other.Open("a"), IsError(ErrorCode::kAlreadyExists));
}

// Covers I6.
TEST_F(CombiningTest, AnOpeningThatLostItsRaceIsTakenByWhoCommitsNext) {
  ProducerProcess other(env_, memory_, stream_);
  const ProducerRef b = *other.Open("b");
  other.Provide(b, 1);
  OutrunStore taken(memory_, Asks(), {1}, [&] { CommitForAll(other); });
  OutrunStore outrun(taken, Commits(), {1}, Tick());
  ProducerProcess process(env_, outrun, stream_);
  const Result<ProducerRef> a = process.Open("a");
  ASSERT_THAT(a, IsOk());
  EXPECT_EQ((*a)->opened.incarnation.value, Newest().version.value);
  EXPECT_THAT(Intents(), ::testing::IsEmpty());
  process.Provide(*a, 1);
  process.Commit();
  EXPECT_EQ(Cursors(), (std::vector<std::string>{"b1", "a1"}));
}

// Each of a fleet that is started again sees how many there are, and does not try with them for the same slot.
TEST_F(CombiningTest, AnOpenerAmongManyAnnouncesBeforeItTries) {
  ProducerProcess fleet(env_, memory_, stream_);
  std::vector<ProducerRef> producers;
  for (int i = 0; i < 8; ++i) producers.push_back(*fleet.Open("p" + std::to_string(i)));
  for (const ProducerRef& producer : producers) fleet.Provide(producer, 1);
  fleet.Commit();  // One version of eight producers.
  const Version before = Newest().version;
  OutrunStore taken(memory_, Asks(), {1}, [&] {
    EXPECT_EQ(Intents().size(), 1u);
    CommitForAll(fleet);
  });
  ProducerProcess process(env_, taken, stream_);
  const Result<ProducerRef> a = process.Open("a");
  ASSERT_THAT(a, IsOk());
  EXPECT_EQ((*a)->opened.incarnation.value, before.value + 1);
  EXPECT_EQ(Newest().version.value, before.value + 1);  // The fleet's: the opener committed none.
  EXPECT_THAT(Intents(), ::testing::IsEmpty());
}

// What may not be opened is told at the first look, not after a turn.
TEST_F(CombiningTest, AnOpenerAmongManyThatMayNotOpenAnnouncesNothing) {
  ProducerProcess fleet(env_, memory_, stream_);
  std::vector<ProducerRef> producers;
  for (int i = 0; i < 8; ++i) producers.push_back(*fleet.Open("p" + std::to_string(i)));
  for (const ProducerRef& producer : producers) fleet.Provide(producer, 1);
  EXPECT_THAT(fleet.pipeline().AwaitFinished(*producers[0], env_.clock.Now()), IsError(ErrorCode::kStalled));
  fleet.Commit();
  ProducerProcess process(env_, memory_, stream_);
  EXPECT_THAT(process.Open("p0"), IsError(ErrorCode::kAlreadyExists));
  EXPECT_THAT(Intents(), ::testing::IsEmpty());
}

// Another took the name first, and the one that was announced before begins anew.
// Covers I6, I13.
TEST_F(CombiningTest, AnOpeningThatWasOvertakenFencesWhoOvertookIt) {
  ProducerProcess other(env_, memory_, stream_);
  OutrunStore taken(memory_, Asks(), {1}, [&] { ASSERT_THAT(other.Open("a"), IsOk()); });
  OutrunStore outrun(taken, Commits(), {1}, Tick());
  ProducerProcess process(env_, outrun, stream_);
  const Result<ProducerRef> a = process.Open("a");
  ASSERT_THAT(a, IsOk());
  EXPECT_EQ((*a)->opened.incarnation.value, Newest().version.value);
}

// Who serves builds on its own last version without reading the newest: it must not take a producer for fenced that was
// opened after it.
// Covers B2.
TEST_F(CombiningTest, AProducerThatIsOpenedWhileItsProcessServesIsNotFenced) {
  ProducerProcess other(env_, memory_, stream_);
  LetServe(other);
  const ProducerRef c = *other.Open("c");
  other.Provide(c, 1);
  for (int i = 0; i < 5 && !other.IsCommitted(c); ++i) other.Commit();
  EXPECT_TRUE(other.IsCommitted(c));
  EXPECT_EQ(Cursors(), (std::vector<std::string>{"b1", "a1", "c1"}));
}

// Who serves and finds nothing to commit judges by the version that there is: what was announced under the next one lives.
TEST_F(CombiningTest, AnAnnouncementOfWhoWasOpenedMeanwhileIsNotDeleted) {
  ProducerProcess other(env_, memory_, stream_);
  LetServe(other);
  ProducerProcess third(env_, memory_, stream_);
  const ProducerRef c = *third.Open("c");
  third.Provide(c, 1);
  const BatchIntent intent{.stream_id = stream_.keys().stream_id,
                           .producer = "c",
                           .incarnation = c->opened.incarnation,
                           .last_seq = 1,
                           .entries = third.pipeline().CollectRuns().runs.at(0).entries};
  const std::string key = stream_.keys().Intent("c", c->opened.incarnation, 1, 77);
  ASSERT_THAT(PutBytes(memory_, key, EncodeIntent(intent), PutMode::kCreate), IsOk());
  other.Commit();  // Nothing that its version knows.
  EXPECT_THAT(memory_.Stat(key), IsOk());
}

// Covers I5, I7, I12.
TEST_F(CombiningTest, AnySingleFailureLosesAndDoublesNothing) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    StreamBuilder stream(memory);
    TestEnv env;
    FaultyStore faulty(memory, fault);
    const auto rival = [&] {
      ManifestLog log(env.Over(memory), stream.keys(), stream.stream_json_hash());
      ASSERT_THAT(CommitChange(log, kForever, [](Manifest&) -> Result<bool> { return true; }), IsOk());
    };
    OutrunStore outrun(faulty, Commits(), {1, 3}, rival);
    ProducerProcess process(env, outrun, stream);
    Result<ProducerRef> a = process.Open("a");
    for (int i = 0; i < 5 && !a.ok(); ++i) a = process.Open("a");
    EXPECT_THAT(a, IsOk());
    for (const uint64_t number : {1, 2}) process.Provide(*a, number);
    for (int i = 0; i < 20 && !process.IsCommitted(*a); ++i) process.Commit();
    EXPECT_TRUE(process.IsCommitted(*a));
    ManifestLog log(env.Over(memory), stream.keys(), stream.stream_json_hash());
    EXPECT_EQ(log.ReadNewest()->manifest.tail.size(), 2u);
    return faulty.fired();
  });
}

}  // namespace
}  // namespace batchweave
