// Puts and deletes.
#include <gmock/gmock.h>

#include <array>

#include "batchweave/testing/conformance.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(ObjectStoreConformance, AnObjectIsReadAsItWasCreated) {
  ASSERT_THAT(Create("a/b/c", "text"), IsOk());
  EXPECT_THAT(Read("a/b/c"), IsOkAndHolds("text"));
}

TEST_P(ObjectStoreConformance, ASecondCreateIsRefusedAndChangesNothing) {
  ASSERT_THAT(Create("a", "first"), IsOk());
  EXPECT_THAT(Create("a", "second, and longer"), IsError(ErrorCode::kAlreadyExists));
  EXPECT_THAT(Create("a", "first"), IsError(ErrorCode::kAlreadyExists));
  EXPECT_THAT(Read("a"), IsOkAndHolds("first"));
}

TEST_P(ObjectStoreConformance, ACreateThatLostLeavesNothingToTheNext) {
  ASSERT_THAT(Create("a/taken", "first"), IsOk());
  EXPECT_THAT(Create("a/taken", std::string(100'000, 'x')), IsError(ErrorCode::kAlreadyExists));
  ASSERT_THAT(Create("a/free", "short"), IsOk());
  EXPECT_THAT(Read("a/free"), IsOkAndHolds("short"));
  EXPECT_THAT(Keys("a/", 10), IsOkAndHolds(::testing::UnorderedElementsAre("a/free", "a/taken")));
}

TEST_P(ObjectStoreConformance, AnOverwriteReplacesWhatIsThere) {
  ASSERT_THAT(Create("a", "first, and longer"), IsOk());
  EXPECT_THAT(Overwrite("a", "second"), IsOk());
  EXPECT_THAT(Read("a"), IsOkAndHolds("second"));
  EXPECT_THAT(store().Stat("a"), IsOkAndHolds(6u));
}

TEST_P(ObjectStoreConformance, AnOverwriteNeedsNothingToBeThere) {
  EXPECT_THAT(Overwrite("a/b", "text"), IsOk());
  EXPECT_THAT(Read("a/b"), IsOkAndHolds("text"));
  EXPECT_THAT(Create("a/b", "other"), IsError(ErrorCode::kAlreadyExists));
}

TEST_P(ObjectStoreConformance, PiecesBecomeOneObject) {
  const std::array<ByteView, 4> pieces = {AsBytes("ab"), AsBytes(""), AsBytes("cde"), AsBytes("")};
  ASSERT_THAT(store().Put("a", pieces, PutMode::kCreate), IsOk());
  EXPECT_THAT(Read("a"), IsOkAndHolds("abcde"));
}

// A batch of 4096 slices: more pieces than one system call takes.
TEST_P(ObjectStoreConformance, ThousandsOfPiecesBecomeOneObject) {
  std::string text;
  for (size_t i = 0; text.size() < 50'000; ++i) text += std::to_string(i);
  std::vector<ByteView> pieces;
  for (size_t at = 0; at < text.size(); at += 9) {
    pieces.push_back(AsBytes(std::string_view(text).substr(at, 9)));
    pieces.emplace_back();
  }
  ASSERT_THAT(store().Put("a", pieces, PutMode::kCreate), IsOk());
  EXPECT_THAT(Read("a"), IsOkAndHolds(text));
}

TEST_P(ObjectStoreConformance, AnObjectMayBeEmpty) {
  ASSERT_THAT(Create("empty", ""), IsOk());
  ASSERT_THAT(store().Put("of no pieces", {}, PutMode::kCreate), IsOk());
  EXPECT_THAT(Read("empty"), IsOkAndHolds(""));
  EXPECT_THAT(ReadRange("of no pieces", 0, 10), IsOkAndHolds(""));
  EXPECT_THAT(store().Stat("empty"), IsOkAndHolds(0u));
  EXPECT_THAT(Create("empty", "not"), IsError(ErrorCode::kAlreadyExists));
}

TEST_P(ObjectStoreConformance, KeysThatBreakTheRulesAreRefused) {
  const std::string too_long_component(kKeyComponentBytesMax + 1, 'x');
  std::string too_long = "x";
  while (too_long.size() <= kKeyBytesMax) too_long += "/x";
  const std::vector<std::string> bad = {
      "",      "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.b", ".tmp", std::string(1, 0), too_long_component,
      too_long};
  for (const std::string& key : bad) {
    EXPECT_THAT(Create(key, "text"), IsError(ErrorCode::kInvalidArgument)) << key;
    EXPECT_THAT(Overwrite(key, "text"), IsError(ErrorCode::kInvalidArgument)) << key;
    EXPECT_THAT(Read(key), IsError(ErrorCode::kInvalidArgument)) << key;
    EXPECT_THAT(ReadRange(key, 0, 1), IsError(ErrorCode::kInvalidArgument)) << key;
    EXPECT_THAT(store().Stat(key), IsError(ErrorCode::kInvalidArgument)) << key;
    EXPECT_THAT(store().Delete({&key, 1}), IsError(ErrorCode::kInvalidArgument)) << key;
  }
  EXPECT_THAT(Keys("", 10), IsOkAndHolds(IsEmpty()));
}

TEST_P(ObjectStoreConformance, TheLongestKeysWork) {
  const size_t bytes_max = kKeyBytesMax - GetParam().prefix_bytes;
  const std::string component(kKeyComponentBytesMax, 'x');
  std::string longest = component;
  while (longest.size() + 1 + component.size() <= bytes_max) longest += "/" + component;
  longest += "/" + std::string(bytes_max - longest.size() - 1, 'y');
  for (const std::string& key : {longest, std::string("_"), std::string("a b-c.d~\xc3\xa9=#?%2f")}) {
    ASSERT_THAT(Create(key, "text"), IsOk());
    EXPECT_THAT(Read(key), IsOkAndHolds("text"));
    EXPECT_THAT(Keys(key, 10), IsOkAndHolds(ElementsAre(key)));
  }
}

TEST_P(ObjectStoreConformance, WhatIsDeletedIsGone) {
  ASSERT_THAT(Create("a/b", "first"), IsOk());
  ASSERT_THAT(Create("a/c", "text"), IsOk());
  const std::vector<std::string> keys = {"a/b"};
  ASSERT_THAT(store().Delete(keys), IsOk());
  EXPECT_THAT(Read("a/b"), IsError(ErrorCode::kNotFound));
  EXPECT_THAT(Keys("", 10), IsOkAndHolds(ElementsAre("a/c")));
  EXPECT_THAT(Create("a/b", "second"), IsOk());
  EXPECT_THAT(Read("a/b"), IsOkAndHolds("second"));
}

TEST_P(ObjectStoreConformance, DeletingWhatIsNotThereIsNoError) {
  ASSERT_THAT(Create("a/b", "text"), IsOk());
  const std::vector<std::string> keys = {"missing", "x/missing", "a", "a/b/below", "a/b", "a/b"};
  EXPECT_THAT(store().Delete(keys), IsOk());
  EXPECT_THAT(store().Delete({}), IsOk());
  EXPECT_THAT(Keys("", 10), IsOkAndHolds(IsEmpty()));
}

TEST_P(ObjectStoreConformance, APlaceIsFreeAgainWhenAllBelowItIsDeleted) {
  ASSERT_THAT(Create("a/b/c/d", "text"), IsOk());
  const std::vector<std::string> keys = {"a/b/c/d"};
  ASSERT_THAT(store().Delete(keys), IsOk());
  EXPECT_THAT(Create("a/b", "text"), IsOk());
  EXPECT_THAT(Read("a/b"), IsOkAndHolds("text"));
}

}  // namespace
}  // namespace batchweave
