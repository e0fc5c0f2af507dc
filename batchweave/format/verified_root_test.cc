#include "batchweave/format/verified_root.h"

#include <flatbuffers/flatbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "batchweave/format/archive.h"
#include "batchweave/format/archive_generated.h"
#include "batchweave/format/entry_codec.h"
#include "batchweave/format/manifest_blocks.h"
#include "batchweave/format/manifest_generated.h"
#include "batchweave/format/manifest_glimpse.h"
#include "batchweave/format/manifest_steps.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/tgb_generated.h"
#include "batchweave/format/wire_hash.h"
#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

// A rest block that names one and the same entry `times` times.
Bytes RestOfOneEntry(const Entry& entry, size_t times) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<flatbuffers::Offset<wire::Entry>> entries(times, WriteEntry(builder, entry));
  builder.Finish(wire::CreateRest(builder, builder.CreateVector(entries)));
  const ByteView block = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return Bytes(block.begin(), block.end());
}

TEST(VerifiedRootTest, ABlockDoesNotUnfoldToMoreThanItself) {
  Entry entry = MakeEntry("p", 1);
  entry.cursor.resize(kCursorBytesMax);
  Manifest manifest = MakeManifest();
  EXPECT_THAT(DecodeRestBlock(RestOfOneEntry(entry, 1), manifest), IsOk());
  EXPECT_THAT(DecodeRestBlock(RestOfOneEntry(entry, 100), manifest),
              IsError(ErrorCode::kCorrupt, HasSubstr("stored twice over")));
  EXPECT_THAT(DecodeRestBlock(RestOfOneEntry(MakeEntry("p", 1), 100'000), manifest),
              IsError(ErrorCode::kCorrupt, HasSubstr("malformed")));
}

// Archived entries, `times` of them in one and the same place.
Bytes ArchivedOneEntry(size_t times) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<flatbuffers::Offset<wire::Entry>> entries(times, WriteEntry(builder, MakeEntry("p", 1)));
  const wire::Hash128 stream_id = ToWire({.high = 1, .low = 2});
  builder.Finish(wire::CreateArchivedEntries(builder, &stream_id, 7, builder.CreateVector(entries)));
  const ByteView block = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return Bytes(block.begin(), block.end());
}

Result<const wire::Entry*> ElementOf(ByteView block, uint32_t i) {
  const auto* table = *VerifiedRoot<wire::ArchivedEntryOffsets>(block, "archived entries");
  return VerifiedElement<wire::Entry>(block, *table->entries(), i, "archived entries");
}

TEST(VerifiedRootTest, AnElementIsVerifiedAlone) {
  const Bytes object = ArchivedOneEntry(2);
  const AlignedBlock block(object);
  const ByteView view = block.view();
  const auto* table = *VerifiedRoot<wire::ArchivedEntryOffsets>(view, "archived entries");
  const auto second_at =
      static_cast<size_t>(reinterpret_cast<const std::byte*>(table->entries()->Data()) - view.data()) + 4;
  for (const uint32_t offset : {0u, 0x7fff'ffffu, 0xffff'fff0u}) {
    Bytes damaged = object;
    std::memcpy(damaged.data() + second_at, &offset, sizeof offset);
    const AlignedBlock aligned(damaged);
    EXPECT_THAT(ElementOf(aligned.view(), 0), IsOk());
    EXPECT_THAT(ElementOf(aligned.view(), 1), IsError(ErrorCode::kCorrupt, HasSubstr("malformed")));
  }
  EXPECT_THAT(ElementOf(view, 1), IsOk());
}

TEST(VerifiedRootTest, ArchivedEntriesAreNoMoreThanThereIsRoomFor) {
  EXPECT_THAT(DecodeArchivedEntries(EncodeFramed(ObjectKind::kArchivedEntries, ArchivedOneEntry(2))), IsOk());
  EXPECT_THAT(DecodeArchivedEntries(EncodeFramed(ObjectKind::kArchivedEntries, ArchivedOneEntry(100'000))),
              IsError(ErrorCode::kCorrupt, HasSubstr("more than there is room for")));
}

// A manifest with `rest` as its second block, whatever that is.
Bytes ManifestWith(const Manifest& manifest, const Bytes& rest) {
  const Bytes head = EncodeHeadBlock(manifest, {.size_bytes = rest.size(), .hash = Hash64(rest)});
  return EncodeFramed(ObjectKind::kManifest, head, rest);
}

// Who takes a part of a manifest meets what a broken writer stored there, and nothing of the rest.
TEST(VerifiedRootTest, APartOfAManifestIsVerifiedWhereItIsRead) {
  std::vector<Entry> tail;
  for (uint64_t seq = 1; seq <= 1000; ++seq) tail.push_back(MakeEntry(seq % 2 == 0 ? "even" : "odd", seq));
  const Manifest manifest = MakeManifest(tail);
  Bytes rest = EncodeRestBlock(manifest);
  const AlignedBlock block(rest);
  const auto& table = **VerifiedRoot<wire::RestOffsets>(block.view(), kRestOfManifest);
  const auto damaged = [&](const flatbuffers::Vector<uint32_t>& offsets, uint32_t i) {
    Bytes bytes = rest;
    const auto* first = reinterpret_cast<const std::byte*>(offsets.Data());
    const uint32_t offset = 0xffff'fff0u;
    std::memcpy(bytes.data() + (first - block.view().data()) + i * sizeof offset, &offset, sizeof offset);
    return ManifestWith(manifest, bytes);
  };
  const auto is_malformed = IsError(ErrorCode::kCorrupt, HasSubstr("rest of the manifest is malformed"));
  const std::vector<std::string> even = {"even"};
  const std::vector<std::string> odd = {"odd"};

  const Bytes at_seventh = damaged(*table.entries(), 7);
  EXPECT_THAT(DecodeManifestSteps(at_seventh, {0}, 7), IsOk());
  EXPECT_THAT(DecodeManifestSteps(at_seventh, {8}, 2000), IsOk());
  EXPECT_THAT(DecodeManifestSteps(at_seventh, {0}, 8), is_malformed);
  EXPECT_THAT(GlimpseManifest(at_seventh, even), IsOk());
  EXPECT_THAT(GlimpseManifest(damaged(*table.entries(), table.entries()->size() - 1), even), is_malformed);

  const Bytes at_even = damaged(*table.rows(), 0);
  EXPECT_THAT(DecodeManifestSteps(at_even, {0}, 2000), IsOk());
  EXPECT_THAT(GlimpseManifest(at_even, odd), IsOk());
  EXPECT_THAT(GlimpseManifest(at_even, even), is_malformed);
}

// Nothing else bounds what all of them name in one place.
TEST(VerifiedRootTest, AGlimpseTakesNoNameThatIsNone) {
  Manifest manifest = MakeManifest();
  manifest.next_step = {2000};
  manifest.first_step = manifest.next_step;
  const auto glimpsed = [&](const std::string& producer) {
    return GlimpseManifest(ManifestWith(manifest, RestOfOneEntry(MakeEntry(producer, 1), 1000)), {});
  };
  EXPECT_THAT(glimpsed("p"), IsOk());
  EXPECT_THAT(glimpsed(std::string(1'000'000, 'p')), IsError(ErrorCode::kCorrupt, HasSubstr("valid name")));
}

TEST(VerifiedRootTest, EntriesOfAManifestAreNoMoreThanThereIsRoomFor) {
  Manifest manifest = MakeManifest();
  manifest.next_step = {200'000};
  manifest.first_step = manifest.next_step;
  const auto taken = [&](size_t times) {
    return DecodeManifestSteps(ManifestWith(manifest, RestOfOneEntry(MakeEntry("p", 1), times)), {}, SIZE_MAX);
  };
  EXPECT_THAT(taken(1), IsOk());
  EXPECT_THAT(taken(100'000), IsError(ErrorCode::kCorrupt, HasSubstr("more entries than there is room for")));
}

TEST(VerifiedRootTest, NothingAtAllIsMalformed) {
  EXPECT_THAT(VerifiedRoot<wire::TgbIndex>({}, "footer"), IsError(ErrorCode::kCorrupt, "footer is malformed"));
}

TEST(VerifiedRootTest, AMissingFieldThatMustBeThereIsMalformed) {
  flatbuffers::FlatBufferBuilder builder;
  const auto start = builder.StartTable();
  builder.Finish(flatbuffers::Offset<wire::ArchivedRows>(builder.EndTable(start)));
  EXPECT_THAT(VerifiedRoot<wire::ArchivedRows>(std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())),
                                               "archived rows"),
              IsError(ErrorCode::kCorrupt, HasSubstr("malformed")));
}

TEST(VerifiedRootTest, FieldsOfLaterSoftwareAreSkipped) {
  flatbuffers::FlatBufferBuilder builder;
  const wire::Hash128 stream_id = ToWire({.high = 1, .low = 2});
  const auto start = builder.StartTable();
  builder.AddStruct(wire::ArchivedRows::VT_STREAM_ID, &stream_id);
  builder.AddElement<uint64_t>(40, 7, 0);
  builder.Finish(flatbuffers::Offset<wire::ArchivedRows>(builder.EndTable(start)));
  EXPECT_THAT(VerifiedRoot<wire::ArchivedRows>(std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())),
                                               "archived rows"),
              IsOk());
}

}  // namespace
}  // namespace batchweave
