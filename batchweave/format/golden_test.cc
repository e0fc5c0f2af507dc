// The bytes of every object of format version 1, as they were first written: they are read for ever, and written the
// same. To add one, run the test with BATCHWEAVE_WRITE_GOLDEN set; a file that is there is never changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "batchweave/format/archive.h"
#include "batchweave/format/intent.h"
#include "batchweave/format/keys.h"
#include "batchweave/format/manifest.h"
#include "batchweave/format/part_message.h"
#include "batchweave/format/stream_info.h"
#include "batchweave/format/tgb.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using Kind = ArchiveRef::Kind;

constexpr StreamId kStream{{.high = 0x0123456789abcdef, .low = 0xfedcba9876543210}};

// The bytes of `name`; first written from `encoded` where it does not exist and we were asked to.
Bytes Golden(const std::string& name, ByteView encoded) {
  const std::filesystem::path path = std::filesystem::path(BATCHWEAVE_GOLDEN_FOLDER) / "v1" / name;
  if (std::getenv("BATCHWEAVE_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
    std::ofstream(path, std::ios::binary) << AsText(encoded);
  }
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return ToBytes(std::string(std::istreambuf_iterator<char>(file), {}));
}

// Two batches: one of one part with all that there can be, one of two parts with lengths here and in a footer.
std::vector<Entry> GoldenEntries() {
  Entry whole{.producer = "tokenizer-03",
              .incarnation = {17},
              .seq = 1204,
              .grid = {.dp = 64, .cp = 2},
              .parts = {{.nonce = 0x1111111111111111,
                         .range = {.dp_begin = 0, .dp_count = 64, .cp_begin = 0, .cp_count = 2},
                         .slice_bytes = {1048576},
                         .object_bytes = 134226232,
                         .footer_bytes = 216,
                         .provenance_bytes = 96}},
              .digest = {.high = 0xd1, .low = 0xd2},
              .content_type = "application/x-safetensors",
              .schema_hash = 0x5c,
              .samples = 512,
              .cursor = ToBytes("shard 12, record 7"),
              .committed_at_ns = 1'700'000'000'000'000'001,
              .metadata = ToBytes("{\"mix\":{\"web\":0.7}}")};
  Entry parts{.producer = "images",
              .incarnation = {21},
              .seq = 9,
              .grid = {.dp = 3, .cp = 1},
              .parts = {{.nonce = 0x2222222222222222,
                         .range = {.dp_begin = 0, .dp_count = 2, .cp_begin = 0, .cp_count = 1},
                         .slice_bytes = {100, 60},
                         .object_bytes = 448,
                         .footer_bytes = 192},
                        {.nonce = 0x3333333333333333,
                         .range = {.dp_begin = 2, .dp_count = 1, .cp_begin = 0, .cp_count = 1},
                         .object_bytes = 1000,
                         .footer_bytes = 200}},
              .digest = {.high = 0xd3, .low = 0xd4},
              .samples = 3};
  return {whole, parts};
}

Manifest GoldenManifest() {
  return {
      .stream_id = kStream,
      .version = {4000},
      .commit_id = {{.high = 0xc1, .low = 0xc2}},
      .previous_hash = {.high = 0xa1, .low = 0xa2},
      .writer_features = 1,
      .first_step = {90},
      .next_step = {202},
      .sealed = true,
      .deleted = true,
      .groups = {{.name = "eval", .session = {30}, .start = {95}, .start_held = true, .smallest_held = {95}},
                 {.name = "pretrain", .session = {31}, .start = {80}, .start_held = false, .smallest_held = {120}}},
      .tail = GoldenEntries(),
      .archives = {{.kind = Kind::kIndex,
                    .version = {3000},
                    .nonce = 0x4444444444444444,
                    .first = {64},
                    .end = {128},
                    .object_bytes = 5000,
                    .hash = {.high = 0xe1, .low = 0xe2},
                    .level = 1,
                    .payload_bytes = uint64_t{1} << 40},
                   {.kind = Kind::kEntries,
                    .version = {3500},
                    .nonce = 0x5555555555555555,
                    .first = {128},
                    .end = {200},
                    .object_bytes = 9000,
                    .hash = {.high = 0xe3, .low = 0xe4},
                    .payload_bytes = uint64_t{1} << 39}},
      .checkpoints = {{.group = "pretrain", .name = "ckpt-150", .position = {150}, .order = 6},
                      {.group = "pretrain", .name = "best", .position = {120}, .pinned = true, .order = 9}},
      .quarantines = {{.first = {100}, .end = {104}, .reason = "NaN loss", .set_at = {3100}, .lifted_at = {3200}},
                      {.first = {110}, .end = {111}, .reason = "", .set_at = {3300}}},
      .rows = {{.producer = "captions", .incarnation = {5}, .state = ProducerRow::State::kGone},
               {.producer = "images", .incarnation = {21}, .opening_nonce = 0xb1, .seq = 9, .step = Step{201}},
               {.producer = "text",
                .incarnation = {6},
                .opening_nonce = 0xb2,
                .seq = 70,
                .step = Step{85},
                .state = ProducerRow::State::kFinished,
                .cursor = ToBytes("end of text")},
               {.producer = "tokenizer-03", .incarnation = {17}, .opening_nonce = 0xb3, .seq = 1204, .step = Step{200}},
               {.producer = "warmup",
                .incarnation = {2},
                .seq = 1,
                .step = Step{0},
                .state = ProducerRow::State::kForgotten,
                .cursor = Bytes()}},
      .archived_rows = ArchiveRef{.kind = Kind::kRows,
                                  .version = {3900},
                                  .nonce = 0x6666666666666666,
                                  .object_bytes = 7000,
                                  .hash = {.high = 0xe5, .low = 0xe6}}};
}

// A tail of which most entries lie in the rest block.
Manifest GoldenLongManifest() {
  Manifest manifest{.stream_id = kStream, .version = {40}, .next_step = {100}};
  for (uint64_t seq = 1; seq <= 100; ++seq) {
    Entry entry = GoldenEntries().front();
    entry.seq = seq;
    manifest.tail.push_back(std::move(entry));
  }
  manifest.rows = {{.producer = "tokenizer-03", .incarnation = {17}, .seq = 100, .step = Step{99}}};
  return manifest;
}

TgbFooter GoldenFooter() {
  return {.identity = {.stream_id = kStream, .producer = "images", .incarnation = {21}, .seq = 9},
          .grid = {.dp = 3, .cp = 2},
          .range = {.dp_begin = 1, .dp_count = 2, .cp_begin = 0, .cp_count = 2},
          .slice_bytes = {5, 0, 64, 56},
          .content_type = "text/plain",
          .schema_hash = 0x5c,
          .provenance_bytes = 21,
          .provenance_hash = 0xf00d};
}

// A whole object: slice i is so many letters 'a' + i.
Bytes GoldenObject() {
  TgbFooter footer = GoldenFooter();
  const PartLayout layout = *PartLayout::Make(footer.range, footer.slice_bytes);
  Bytes object(layout.payload_end());
  std::vector<uint64_t> trailers;
  for (size_t i = 0; i < footer.slice_bytes.size(); ++i) {
    const Coordinate at{.dp = 1 + static_cast<uint32_t>(i % 2), .cp = static_cast<uint32_t>(i / 2)};
    const MutableByteView slice = MutableByteView(object).subspan(layout.SliceOffset(at));
    const uint64_t size_bytes = layout.SliceBytes(at);
    std::fill_n(slice.begin(), size_bytes, static_cast<std::byte>('a' + i));
    trailers.push_back(SliceTrailer(footer.identity, at, size_bytes, Hash64(slice.first(size_bytes))));
    StoreTrailer(trailers.back(), slice.subspan(size_bytes).first<kTrailerBytes>());
  }
  footer.digest = DigestOfTrailers(trailers);
  const Bytes end = EncodeTgbFooter(footer);
  return Join(std::array<ByteView, 3>{object, AsBytes("samples 8192 to 8195\n"), end});
}

ArchivedEntries GoldenArchivedEntries() { return {.stream_id = kStream, .first = {128}, .entries = GoldenEntries()}; }
ArchiveIndex GoldenIndex() {
  ArchiveIndex index{.stream_id = kStream, .children = GoldenManifest().archives};
  index.children[1].kind = Kind::kIndex;
  index.children[1].level = 1;
  return index;
}
ArchivedRows GoldenRows() {
  ArchivedRows rows{.stream_id = kStream, .rows = GoldenManifest().rows};
  rows.rows.erase(rows.rows.begin());
  return rows;
}

TEST(GoldenTest, Manifest) {
  for (const auto& [name, manifest] :
       {std::pair("manifest-full.bin", GoldenManifest()), std::pair("manifest-long.bin", GoldenLongManifest()),
        std::pair("manifest-first.bin", Manifest{.stream_id = kStream, .version = {1}})}) {
    const Bytes encoded = EncodeManifest(manifest).bytes;
    const Bytes golden = Golden(name, encoded);
    EXPECT_THAT(DecodeManifest(golden), IsOkAndHolds(manifest)) << name;
    EXPECT_EQ(encoded, golden) << name;
  }
}

TEST(GoldenTest, HeadOfAManifest) {
  const Bytes encoded = EncodeManifest(GoldenLongManifest()).bytes;
  const Bytes golden = Golden("manifest-head.bin", ByteView(encoded).first(*HeadBytesNeeded(encoded)));
  const ManifestHead head = *DecodeManifestHead(golden);
  EXPECT_EQ(ToHex(head.hash), "86e4267534a878623166ff5388645aa0");
  EXPECT_EQ(head.manifest.tail.size(), 49u);
  EXPECT_EQ(head.manifest.tail.back(), GoldenLongManifest().tail.back());
}

TEST(GoldenTest, Tombstone) {
  const Tombstone tombstone{.version = {7},
                            .commit_id = {{.high = 1, .low = 2}},
                            .hash = {.high = 3, .low = 4},
                            .previous_hash = {.high = 5, .low = 6}};
  const Bytes golden = Golden("tombstone.bin", EncodeTombstone(tombstone));
  EXPECT_THAT(DecodeTombstone(golden), IsOkAndHolds(tombstone));
  EXPECT_EQ(EncodeTombstone(tombstone), golden);
}

TEST(GoldenTest, BatchObject) {
  const Bytes golden = Golden("batch.bin", GoldenObject());
  TgbFooter footer = GoldenFooter();
  footer.digest = DecodeTgbFooter(golden)->digest;
  EXPECT_THAT(DecodeTgbFooter(golden), IsOkAndHolds(footer));
  EXPECT_EQ(GoldenObject(), golden);
}

TEST(GoldenTest, StreamJson) {
  for (const bool deleted : {false, true}) {
    const StreamInfo info{.stream_id = kStream, .deleted = deleted, .created_at_ns = 1'700'000'000'000'000'000};
    const Bytes golden = Golden(deleted ? "stream-deleted.json" : "stream.json", EncodeStreamInfo(info));
    EXPECT_THAT(DecodeStreamInfo(golden), IsOkAndHolds(info));
    EXPECT_EQ(EncodeStreamInfo(info), golden);
  }
}

TEST(GoldenTest, ArchivedObjects) {
  const Bytes entries = Golden("archived-entries.bin", EncodeArchivedEntries(GoldenArchivedEntries()));
  EXPECT_THAT(DecodeArchivedEntries(entries), IsOkAndHolds(GoldenArchivedEntries()));
  EXPECT_EQ(EncodeArchivedEntries(GoldenArchivedEntries()), entries);
  const Bytes index = Golden("archive-index.bin", EncodeArchiveIndex(GoldenIndex()));
  EXPECT_THAT(DecodeArchiveIndex(index), IsOkAndHolds(GoldenIndex()));
  EXPECT_EQ(EncodeArchiveIndex(GoldenIndex()), index);
  const Bytes rows = Golden("archived-rows.bin", EncodeArchivedRows(GoldenRows()));
  EXPECT_THAT(DecodeArchivedRows(rows), IsOkAndHolds(GoldenRows()));
  EXPECT_EQ(EncodeArchivedRows(GoldenRows()), rows);
}

TEST(GoldenTest, Intents) {
  const Entry batch = GoldenEntries().front();
  const BatchIntent batches{.stream_id = kStream,
                            .writer_features = 2,
                            .producer = batch.producer,
                            .incarnation = batch.incarnation,
                            .last_seq = batch.seq,
                            .entries = {batch},
                            .finish = true,
                            .forget = true};
  const OpeningIntent opening{.stream_id = kStream,
                              .writer_features = 2,
                              .producer = "images",
                              .base = {4000},
                              .nonce = 0xaaaaaaaaaaaaaaaa,
                              .reopen = true};
  const Bytes batches_golden = Golden("batch-intent.bin", EncodeIntent(batches));
  EXPECT_THAT(DecodeBatchIntent(batches_golden), IsOkAndHolds(batches));
  EXPECT_EQ(EncodeIntent(batches), batches_golden);
  const Bytes opening_golden = Golden("opening-intent.bin", EncodeIntent(opening));
  EXPECT_THAT(DecodeOpeningIntent(opening_golden), IsOkAndHolds(opening));
  EXPECT_EQ(EncodeIntent(opening), opening_golden);
}

TEST(GoldenTest, PartMessages) {
  const PartTicket ticket{.identity = GoldenFooter().identity,
                          .grid = {.dp = 3, .cp = 2},
                          .content_type = "text/plain",
                          .schema_hash = 0x5c,
                          .nonce = 0x8888888888888888};
  const PartReceipt receipt{.ticket = ticket,
                            .part = {.nonce = 0x9999999999999999,
                                     .range = GoldenFooter().range,
                                     .slice_bytes = GoldenFooter().slice_bytes,
                                     .object_bytes = 549,
                                     .footer_bytes = 208,
                                     .provenance_bytes = 21},
                            .trailers = {0xf1, 0xf2, 0xf3, 0xf4}};
  const Bytes golden_ticket = Golden("part-ticket.bin", EncodePartTicket(ticket));
  EXPECT_THAT(DecodePartTicket(golden_ticket), IsOkAndHolds(ticket));
  EXPECT_EQ(EncodePartTicket(ticket), golden_ticket);
  const Bytes golden_receipt = Golden("part-receipt.bin", EncodePartReceipt(receipt));
  EXPECT_THAT(DecodePartReceipt(golden_receipt), IsOkAndHolds(receipt));
  EXPECT_EQ(EncodePartReceipt(receipt), golden_receipt);
}

TEST(GoldenTest, Keys) {
  const StreamKeys keys{.name = "llm-7b", .stream_id = kStream};
  std::string text;
  for (const std::string& key :
       {StreamJsonKey(keys.name), keys.Manifest({4000}),
        keys.Archive({.kind = Kind::kEntries, .version = {3500}, .nonce = 0x5555555555555555}),
        keys.Archive({.kind = Kind::kIndex, .version = {3000}, .nonce = 0x4444444444444444}),
        keys.Archive({.kind = Kind::kRows, .version = {3900}, .nonce = 0x6666666666666666}),
        keys.Data("tokenizer-03", {17}, 1204, 0x1111111111111111), keys.Intent("tokenizer-03", {17}, 1204, 0xa),
        keys.Opening("tokenizer-03", {16}, 0xb), keys.Progress("pretrain"), ProbePrefix(keys.name, 0xc)}) {
    text += key + "\n";
  }
  EXPECT_EQ(text, AsText(Golden("keys.txt", AsBytes(text))));
}

}  // namespace
}  // namespace batchweave
