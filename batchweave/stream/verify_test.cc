#include "batchweave/stream/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/corrupting_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

auto Broken(const std::string& invariant, const std::string& message) {
  return AllOf(Field(&Finding::kind, Finding::Kind::kBroken), Field(&Finding::invariant, invariant),
               Field(&Finding::message, HasSubstr(message)));
}

class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() : builder_(store_) {}

  static TestBatch Batch() { return {.grid = {.dp = 2, .cp = 2}, .slice_bytes = {1000}, .parts = {}}; }
  void Append(size_t batches) {
    for (size_t i = 0; i < batches; ++i) builder_.Append(Batch());
  }

  VerifyReport Verify(bool deep, ObjectStore* through = nullptr) {
    ObjectStore& store = through == nullptr ? store_ : *through;
    Result<Stream> stream = Stream::Open(env_.Over(store), builder_.keys().name);
    EXPECT_THAT(stream, IsOk());
    Result<VerifyReport> report = VerifyStream(*stream, {.deep = deep});
    EXPECT_THAT(report, IsOk());
    return report.ok() ? *report : VerifyReport{};
  }
  std::vector<Finding> Findings(bool deep = false) { return Verify(deep).findings; }

  // The key of the object of the only part of the entry at `step`.
  std::string DataKey(uint64_t step) const {
    const Entry& entry = builder_.newest().tail[step];
    return builder_.keys().Data(entry.producer, entry.incarnation, entry.seq, entry.parts[0].nonce);
  }

  void Edit(const std::string& key, const std::function<void(Bytes&)>& edit) {
    Bytes bytes = store_.Read(key).value();
    edit(bytes);
    ASSERT_THAT(PutBytes(store_, key, bytes, PutMode::kOverwrite), IsOk());
  }
  void Flip(const std::string& key, size_t position) {
    Edit(key, [&](Bytes& bytes) { bytes.at(position) ^= std::byte{1}; });
  }
  void Remove(const std::string& key) { ASSERT_THAT(store_.Delete(std::vector{key}), IsOk()); }

  // Puts another manifest in the newest slot, whole and well chained in itself.
  void RewriteNewest(const std::function<void(Manifest&)>& change) {
    Manifest manifest = builder_.newest();
    change(manifest);
    const Bytes bytes = EncodeManifest(manifest).bytes;
    ASSERT_THAT(PutBytes(store_, builder_.keys().Manifest(manifest.version), bytes, PutMode::kOverwrite), IsOk());
  }

  TestEnv env_;
  MemoryStore store_;
  StreamBuilder builder_;
};

TEST_F(VerifyTest, AWholeStreamHasNoFindings) {
  Append(3);
  builder_.Append({.grid = {.dp = 4, .cp = 2},
                   .slice_bytes = {0, 1, 70, 700, 64, 56, 8, 5000},
                   .parts = {{.dp_begin = 0, .dp_count = 4, .cp_begin = 0, .cp_count = 1},
                             {.dp_begin = 0, .dp_count = 4, .cp_begin = 1, .cp_count = 1}},
                   .lengths_in_footer = true});
  builder_.Archive(2);
  builder_.FoldArchives();
  builder_.Retire(Version{2});
  builder_.Seal();
  for (const bool deep : {false, true}) {
    const VerifyReport report = Verify(deep);
    EXPECT_THAT(report.findings, IsEmpty());
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(report.entries, 4u);
    EXPECT_EQ(report.data_objects, 5u);
    EXPECT_EQ(report.versions, report.newest.value);
    EXPECT_EQ(report.tombstones, 1u);
    EXPECT_EQ(report.slices_read, deep ? 3 * 4 + 8u : 0u);
    EXPECT_TRUE(report.sealed);
  }
}

TEST_F(VerifyTest, AStreamWithoutVersionsHasNoFindings) {
  MemoryStore store;
  Result<Stream> stream = Stream::Create(env_.Over(store), "empty");
  ASSERT_THAT(stream, IsOk());
  const Result<VerifyReport> report = VerifyStream(*stream, {.deep = true});
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->newest, Version{0});
}

TEST_F(VerifyTest, FindsAMissingObject) {
  Append(3);
  Remove(DataKey(1));
  EXPECT_THAT(Findings(), ElementsAre(AllOf(Broken("I4", "missing"), Field(&Finding::step, Step{1}),
                                            Field(&Finding::key, DataKey(1)))));
}

TEST_F(VerifyTest, FindsATruncatedObject) {
  Append(2);
  Edit(DataKey(0), [](Bytes& bytes) { bytes.pop_back(); });
  EXPECT_THAT(Findings(), ElementsAre(Broken("I4", "wrong size")));
}

TEST_F(VerifyTest, DeepFindsAFlippedBitInASliceItsTrailerAndTheFooter) {
  Append(1);
  const size_t object_bytes = store_.Stat(DataKey(0)).value();
  for (const size_t position :
       {size_t{0}, size_t{999}, size_t{1000}, size_t{1500}, object_bytes - 1, object_bytes - 60}) {
    Flip(DataKey(0), position);
    EXPECT_THAT(Findings(), IsEmpty()) << "only --deep reads data";
    EXPECT_THAT(Findings(/*deep=*/true), ElementsAre(Broken("I10", ""))) << "byte " << position;
    Flip(DataKey(0), position);
  }
  EXPECT_THAT(Findings(/*deep=*/true), IsEmpty());
}

TEST_F(VerifyTest, DeepFindsTheSlicesOfAnotherBatch) {
  Append(2);
  const Bytes other = store_.Read(DataKey(1)).value();
  Edit(DataKey(0), [&](Bytes& bytes) { bytes = other; });
  EXPECT_THAT(Findings(/*deep=*/true), ElementsAre(AllOf(Broken("I10", ""), Field(&Finding::step, Step{0}))));
}

TEST_F(VerifyTest, AReadThatWasSpoiledOnceIsMadeAgain) {
  Append(1);
  CorruptingStore spoiled(store_,
                          {.position = 5, .reads = 1, .filter = {.calls = kCallGet, .key = KeyContains(DataKey(0))}});
  EXPECT_TRUE(Verify(/*deep=*/true, &spoiled).ok());
}

TEST_F(VerifyTest, FindsAnEmptySlot) {
  Append(3);
  Remove(builder_.keys().Manifest(Version{2}));
  EXPECT_THAT(Findings(), ElementsAre(Broken("I1", "version=2")));
}

TEST_F(VerifyTest, FindsADamagedManifest) {
  Append(3);
  Flip(builder_.keys().Manifest(Version{2}), 100);
  EXPECT_THAT(Findings(), ElementsAre(Broken("I1", "version 2")));
}

TEST_F(VerifyTest, FindsADamagedNewestManifestAndDoesNotBelieveIt) {
  Append(2);
  Flip(builder_.keys().Manifest(builder_.newest().version), 100);
  const VerifyReport report = Verify(/*deep=*/false);
  EXPECT_THAT(report.findings, ElementsAre(Broken("I1", "")));
  EXPECT_EQ(report.entries, 0u);
}

TEST_F(VerifyTest, FindsABrokenChain) {
  Append(2);
  const Version broken = builder_.newest().version;
  RewriteNewest([](Manifest& manifest) { manifest.commit_id.bits.low ^= 1; });
  builder_.CommitNothing();
  EXPECT_THAT(Findings(), ElementsAre(AllOf(Broken("I2", "hash chain"),
                                            Field(&Finding::key, builder_.keys().Manifest(Next(broken))))));
}

TEST_F(VerifyTest, FindsACommittedEntryThatChanged) {
  Append(2);
  RewriteNewest([](Manifest& manifest) { manifest.tail[0].samples += 1; });
  EXPECT_THAT(Findings(), ElementsAre(AllOf(Broken("I2", "changed"), Field(&Finding::step, Step{0}))));
}

TEST_F(VerifyTest, FindsASealedStreamThatWentOn) {
  Append(1);
  builder_.Seal();
  builder_.CommitNothing();
  RewriteNewest([](Manifest& manifest) { manifest.sealed = false; });
  EXPECT_THAT(Findings(), ElementsAre(Broken("I2", "sealed")));
}

TEST_F(VerifyTest, FindsTrimmedStepsThatCameBack) {
  Append(3);
  builder_.Archive(2);
  builder_.Trim(Step{1});
  builder_.CommitNothing();
  RewriteNewest([](Manifest& manifest) { manifest.first_step = Step{0}; });
  EXPECT_THAT(Findings(), Contains(Broken("I2", "trimmed")));
}

TEST_F(VerifyTest, FindsAGapAndARepeatOfAProducersBatches) {
  Append(1);
  Entry lost = builder_.Upload(Batch());
  Entry next = builder_.Upload(Batch());
  builder_.Commit({next});
  EXPECT_THAT(Findings(), ElementsAre(AllOf(Broken("I5", "gap"), Field(&Finding::step, Step{1}))));
  builder_.Commit({lost});
  EXPECT_THAT(Findings(), Contains(Broken("I5", "repeat")));
}

TEST_F(VerifyTest, FindsThatAProducersFirstBatchIsMissing) {
  builder_.Upload(Batch());
  Append(1);
  EXPECT_THAT(Findings(), ElementsAre(Broken("I5", "first batches")));
}

TEST_F(VerifyTest, FindsARowThatIsNotThatOfTheLastBatch) {
  Append(2);
  RewriteNewest([](Manifest& manifest) {
    manifest.rows[0].seq = 1;
    manifest.rows[0].step = Step{0};
  });
  EXPECT_THAT(Findings(), ElementsAre(Broken("I5", "row")));
}

TEST_F(VerifyTest, DeepFindsAnEntryOfAFencedProducer) {
  builder_.CommitNothing();
  RewriteNewest([](Manifest& manifest) { manifest.rows[0].incarnation = {manifest.version.value}; });
  Append(1);
  EXPECT_THAT(Findings(/*deep=*/true), Contains(Broken("I6", "fenced")));
}

TEST_F(VerifyTest, KeysThatAreNotUnderstoodAreANotice) {
  Append(1);
  const std::string key = builder_.keys().StreamPrefix() + "data/notes.txt";
  ASSERT_THAT(PutBytes(store_, key, AsBytes("mine"), PutMode::kCreate), IsOk());
  const VerifyReport report = Verify(/*deep=*/false);
  EXPECT_THAT(report.findings,
              ElementsAre(AllOf(Field(&Finding::kind, Finding::Kind::kNotice), Field(&Finding::key, key))));
  EXPECT_TRUE(report.ok());
}

TEST_F(VerifyTest, UploadsThatNoEntryNamesAreCountedAndNoFinding) {
  Append(1);
  builder_.Upload(Batch());
  const VerifyReport report = Verify(/*deep=*/true);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.unnamed_objects, 1u);
  EXPECT_GT(report.unnamed_bytes, 4000u);
}

TEST_F(VerifyTest, FindsALostArchivedObjectAndStillChecksTheChain) {
  Append(4);
  builder_.Archive(2);
  Remove(builder_.keys().Archive(builder_.newest().archives[0]));
  EXPECT_THAT(Findings(), ElementsAre(Broken("I4", "history")));
}

TEST_F(VerifyTest, AStreamThatIsGoneIsAnErrorAndNoFinding) {
  Append(1);
  Result<Stream> stream = Stream::Open(env_.Over(store_), builder_.keys().name);
  ASSERT_THAT(stream, IsOk());
  Remove(StreamJsonKey(builder_.keys().name));
  EXPECT_THAT(VerifyStream(*stream, {}), Not(IsOk()));
}

TEST(VerifyReportTest, KeepsSoManyFindingsAndCountsTheRest) {
  VerifyReport report;
  for (size_t i = 0; i < kFindingsMax + 7; ++i) report.Add({.invariant = "I4"});
  EXPECT_EQ(report.findings.size(), kFindingsMax);
  EXPECT_EQ(report.findings_left_out, 7u);
  EXPECT_EQ(report.broken, kFindingsMax + 7);
  EXPECT_FALSE(report.ok());
}

}  // namespace
}  // namespace batchweave
