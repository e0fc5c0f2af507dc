#include "batchweave/format/verified_root.h"

#include <flatbuffers/flatbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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
