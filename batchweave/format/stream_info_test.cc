#include "batchweave/format/stream_info.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "batchweave/base/hash.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

const StreamInfo kInfo{.stream_id = {{.high = 1, .low = 2}}, .created_at_ns = 1'700'000'000'000'000'000};

// `body`, which ends before "check", with the check that fits it.
Bytes WithCheck(std::string_view body) {
  return ToBytes(fmt::format("{}\"check\": \"{:016x}\"\n}}\n", body, Hash64(AsBytes(body))));
}

// The encoded kInfo with the first `from` in it replaced, and a check that fits.
Bytes Changed(std::string_view from, std::string_view to) {
  std::string text(AsText(EncodeStreamInfo(kInfo)));
  text.resize(text.rfind("\"check\""));
  return WithCheck(text.replace(text.find(from), from.size(), to));
}

RC_GTEST_PROP(StreamInfoProperty, WhatWasEncodedIsDecoded, (uint64_t high, uint64_t low, bool deleted, int64_t at)) {
  const StreamInfo info{.stream_id = {{.high = high, .low = low}}, .deleted = deleted, .created_at_ns = at};
  const Result<StreamInfo> decoded = DecodeStreamInfo(EncodeStreamInfo(info));
  RC_ASSERT(decoded.ok());
  RC_ASSERT(*decoded == info);
}

TEST(StreamInfoTest, PeopleCanReadIt) {
  EXPECT_EQ(AsText(EncodeStreamInfo(kInfo)),
            "{\n"
            "  \"format\": \"batchweave stream\",\n"
            "  \"format_version\": 1,\n"
            "  \"stream_id\": \"00000000000000010000000000000002\",\n"
            "  \"deleted\": false,\n"
            "  \"created_at_ns\": 1700000000000000000,\n"
            "  \"check\": \"00fe574a8654d276\"\n"
            "}\n");
}

TEST(StreamInfoTest, NewerFormatIsIncompatibleWhateverElseItSays) {
  EXPECT_THAT(DecodeStreamInfo(Changed(": 1,", ": 2,")),
              IsError(ErrorCode::kIncompatible, HasSubstr("format=2 known=1")));
  EXPECT_THAT(DecodeStreamInfo(WithCheck(R"({"format": "batchweave stream", "format_version": 99, )")),
              IsError(ErrorCode::kIncompatible));
}

TEST(StreamInfoTest, KeysOfLaterSoftwareAreIgnored) {
  EXPECT_THAT(DecodeStreamInfo(Changed("\"deleted\"", "\"later\": [1], \"deleted\"")), IsOkAndHolds(kInfo));
}

TEST(StreamInfoTest, DamageIsCorrupt) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"batchweave", "other"},
           {"\"format\"", "\"f\""},
           {": 1,", ": 0,"},
           {": 1,", ": -1,"},
           {": 1,", ": \"1\","},
           {": 1,", ": 1.0,"},
           {"00001", "0001"},
           {"00001", "0000A"},
           {"stream_id", "id"},
           {"false", "0"},
           {"deleted", "gone"},
           {"1700000000000000000", "null"},
           {"1700000000000000000", "99999999999999999999"},
           {"created_at_ns", "at"},
       }) {
    EXPECT_THAT(DecodeStreamInfo(Changed(from, to)), IsError(ErrorCode::kCorrupt, HasSubstr("stream.json"))) << to;
  }
}

TEST(StreamInfoTest, CutShortAtAnyByteIsCorrupt) {
  const Bytes whole = EncodeStreamInfo(kInfo);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(DecodeStreamInfo(ByteView(whole).first(size)), IsError(ErrorCode::kCorrupt)) << size;
  }
}

TEST(StreamInfoTest, ForeignFilesAreCorrupt) {
  for (const std::string& foreign : {std::string("null"), std::string("[]"), std::string("\xff\xfe{"),
                                     std::string(100'000, ' '), std::string(60'000, '[')}) {
    EXPECT_THAT(DecodeStreamInfo(AsBytes(foreign)), IsError(ErrorCode::kCorrupt));
    EXPECT_THAT(DecodeStreamInfo(WithCheck(foreign)), IsError(ErrorCode::kCorrupt));
  }
}

// A flipped digit of the id would be another stream; of the format version, newer software.
TEST(StreamInfoTest, AnyFlippedBitIsCorrupt) {
  const Bytes whole = EncodeStreamInfo(kInfo);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] ^= std::byte{static_cast<uint8_t>(1U << (bit % 8))};
    EXPECT_THAT(DecodeStreamInfo(flipped), IsError(ErrorCode::kCorrupt)) << bit;
  }
}

}  // namespace
}  // namespace batchweave
