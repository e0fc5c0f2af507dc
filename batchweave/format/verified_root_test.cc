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
