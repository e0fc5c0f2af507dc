#include "examples/demo/data/batch_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "batchweave/testing/matchers.h"
#include "examples/demo/data/reference.h"
#include "examples/demo/data/slice.h"
#include "examples/demo/data/testing/small_corpus.h"

namespace batchweave::demo {
namespace {

using ::testing::HasSubstr;

BatchSource Open(const PackingOptions& options, std::string_view cursor = "") {
  const SmallCorpus& small = SmallCorpus::Instance();
  return BatchSource::From(small.corpus(), small.tokenizer(), options, cursor).value();
}

std::vector<PackedBatch> AllOf(BatchSource source) {
  std::vector<PackedBatch> batches;
  while (std::optional<PackedBatch> batch = source.Next().value()) batches.push_back(std::move(*batch));
  return batches;
}

// From samples far shorter than a slice to samples that go over several batches.
std::vector<PackingOptions> ManyPackings() {
  return {
      {.parts = 1, .grid = {.dp = 1, .cp = 1}, .sequence_length = 1},
      {.parts = 2, .grid = {.dp = 2, .cp = 2}, .sequence_length = 6},
      {.parts = 3, .grid = {.dp = 4, .cp = 2}, .sequence_length = 64},
      {.parts = 3, .grid = {.dp = 4, .cp = 2}, .sequence_length = 1000},
      {.parts = 5, .grid = {.dp = 3, .cp = 5}, .sequence_length = 250},
      {.parts = 20, .grid = {.dp = 4, .cp = 2}, .sequence_length = 100'000},
  };
}

TEST(BatchSourceTest, EverySampleIsPackedExactlyOnce) {
  const Corpus& corpus = SmallCorpus::Instance().corpus();
  for (PackingOptions options : ManyPackings()) {
    Ledger ledger;
    uint64_t samples_ended = 0;
    for (options.part = 0; options.part < options.parts; ++options.part) {
      for (const PackedBatch& batch : AllOf(Open(options))) {
        samples_ended += batch.samples_ended;
        ASSERT_EQ(batch.slices.size(), options.grid.slices());
        for (const Bytes& slice : batch.slices) ledger.Record(DecodeSlice(slice).value());
      }
    }
    const AuditReport audit = ledger.Audit(IdsOf(corpus));
    EXPECT_TRUE(audit.clean()) << ::testing::PrintToString(audit.findings);
    EXPECT_EQ(samples_ended, corpus.samples().size());
  }
}

TEST(BatchSourceTest, WhatWasPackedIsTheSamplesThemselves) {
  const SmallCorpus& small = SmallCorpus::Instance();
  std::map<std::string, std::vector<uint16_t>> tokens;
  std::map<std::string, Bytes> pixels;
  for (const PackedBatch& batch : AllOf(Open({.grid = {.dp = 4, .cp = 2}, .sequence_length = 10}))) {
    for (const Bytes& bytes : batch.slices) {
      const Slice slice = DecodeSlice(bytes).value();
      size_t patch = 0;
      for (const SampleSpan& span : slice.spans) {
        for (uint32_t i = span.at; i < span.at + span.end - span.begin; ++i) {
          tokens[span.id].push_back(slice.tokens[i]);
          if (slice.tokens[i] != kPatchToken) continue;
          const ByteView piece = slice.patches[patch++].pixels;
          pixels[span.id].insert(pixels[span.id].end(), piece.begin(), piece.end());
        }
      }
    }
  }
  for (const SampleRef& ref : small.corpus().samples()) {
    const Document document = small.corpus().Read(ref).value();
    const Sample sample = MakeSample(IdOf(ref), document, small.tokenizer()).value();
    EXPECT_EQ(tokens[sample.id], sample.tokens) << sample.id;
    const size_t pixel_bytes = document.image.has_value() ? document.image->pixels.size() : 0;
    EXPECT_EQ(pixels[sample.id].size(), pixel_bytes) << sample.id;
  }
}

TEST(BatchSourceTest, EveryCursorContinuesWithTheSameBytes) {
  for (PackingOptions options : ManyPackings()) {
    if (options.sequence_length < 64) continue;  // Thousands of batches, each with all that follow.
    const std::vector<PackedBatch> whole = AllOf(Open(options));
    for (size_t i = 0; i < whole.size(); ++i) {
      const std::vector<PackedBatch> rest = AllOf(Open(options, whole[i].cursor));
      ASSERT_EQ(rest.size(), whole.size() - i - 1);
      for (size_t j = 0; j < rest.size(); ++j) {
        ASSERT_EQ(rest[j].slices, whole[i + 1 + j].slices);
        ASSERT_EQ(rest[j].cursor, whole[i + 1 + j].cursor);
        ASSERT_EQ(rest[j].samples_ended, whole[i + 1 + j].samples_ended);
      }
    }
  }
}

TEST(BatchSourceTest, CursorIsShortText) {
  for (const PackedBatch& batch : AllOf(Open({.grid = {.dp = 4, .cp = 2}, .sequence_length = 64}))) {
    EXPECT_LT(batch.cursor.size(), 100u);
  }
}

TEST(BatchSourceTest, CursorOfOtherOptionsOrOfNothingIsRefused) {
  const SmallCorpus& small = SmallCorpus::Instance();
  const PackingOptions options{.parts = 2, .grid = {.dp = 4, .cp = 2}, .sequence_length = 64};
  const std::string good = AllOf(Open(options)).front().cursor;
  const auto from = [&](const PackingOptions& other, std::string_view cursor) {
    return BatchSource::From(small.corpus(), small.tokenizer(), other, cursor);
  };
  ASSERT_THAT(from(options, good), IsOk());
  PackingOptions other = options;
  other.part = 1;
  EXPECT_THAT(from(other, good), IsError(ErrorCode::kInvalidArgument));
  other = options;
  other.sequence_length = 128;
  EXPECT_THAT(from(other, good), IsError(ErrorCode::kInvalidArgument));
  const std::string prefix = good.substr(0, good.rfind('/') + 1);
  for (const std::string tail :
       {"", "1", "1+", "+1", "x+1", "1+1x", "-1+0", "1000+0", "0+4000000", "7+1", "0+99999999999"}) {
    EXPECT_THAT(from(options, prefix + tail), IsError(ErrorCode::kInvalidArgument, HasSubstr("cursor"))) << tail;
  }
  EXPECT_THAT(from(options, "nonsense"), IsError(ErrorCode::kInvalidArgument));
}

TEST(BatchSourceTest, OptionsThatCannotBeAreRefused) {
  const SmallCorpus& small = SmallCorpus::Instance();
  const std::vector<PackingOptions> impossible = {
      {.part = 2, .parts = 2},         {.parts = 0},
      {.grid = {.dp = 0, .cp = 2}},    {.grid = {.dp = 4, .cp = 0}},
      {.grid = {.dp = 4, .cp = 3}},    {.sequence_length = 0},
      {.sequence_length = 0xFFFFFFFE},
  };
  for (const PackingOptions& options : impossible) {
    EXPECT_THAT(BatchSource::From(small.corpus(), small.tokenizer(), options, ""),
                IsError(ErrorCode::kInvalidArgument));
  }
}

TEST(BatchSourceTest, UnreadableSampleIsAnErrorThatNamesIt) {
  const TemporaryFolder folder;
  folder.Write("raw/usr/share/tuxpaint/stamps/broken.png", "not a PNG");
  folder.Write("raw/usr/share/dictd/gcide.txt", "word\n");
  folder.Write("raw/usr/share/doc/python3.11/index.txt", "page\n");
  const Corpus corpus = Corpus::Open({.directory = folder.path()}).value();
  BatchSource source = BatchSource::From(corpus, SmallCorpus::Instance().tokenizer(), {}, "").value();
  EXPECT_THAT(source.Next(), IsError(ErrorCode::kCorrupt, HasSubstr("broken.png")));
}

}  // namespace
}  // namespace batchweave::demo
