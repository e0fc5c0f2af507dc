#include "batchweave/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

Result<int> Half(int number) {
  if (number % 2 != 0) return Error{ErrorCode::kInvalidArgument, "odd"};
  return number / 2;
}

Result<std::string> QuarterInWords(int number) {
  const int half = BW_TRY(Half(number));
  return std::to_string(BW_TRY(Half(half)));
}

Result<void> MustBeEven(int number) {
  BW_TRY(Half(number));
  return {};
}

TEST(ResultTest, TryGivesTheValueOrReturnsTheError) {
  EXPECT_THAT(QuarterInWords(8), IsOkAndHolds("2"));
  EXPECT_THAT(QuarterInWords(6), IsError(ErrorCode::kInvalidArgument, "odd"));
  EXPECT_THAT(MustBeEven(2), IsOk());
  EXPECT_THAT(MustBeEven(3), IsError(ErrorCode::kInvalidArgument));
}

Result<std::vector<int>> Numbers() { return std::vector<int>(100, 7); }

TEST(ResultTest, ValueOfAResultThatIsGoneAtOnceMayBeWalked) {
  int sum = 0;
  for (const int number : *Numbers()) sum += number;
  EXPECT_EQ(sum, 700);
}

TEST(ResultTest, HoldsWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 3);
}

TEST(ResultTest, FailedWithTellsTheCodesApart) {
  EXPECT_TRUE(FailedWith(Half(3), ErrorCode::kInvalidArgument));
  EXPECT_FALSE(FailedWith(Half(3), ErrorCode::kNotFound));
  EXPECT_FALSE(FailedWith(Half(2), ErrorCode::kInvalidArgument));
}

TEST(ResultDeathTest, TheValueOfAnErrorIsABug) {
  EXPECT_DEATH(static_cast<void>(Half(3).value()), "BW_CHECK");
  EXPECT_DEATH(static_cast<void>(Half(2).error()), "BW_CHECK");
}

TEST(ErrorTest, ReadsAsCodeAndMessage) {
  const Error error{ErrorCode::kDenied, "disk full"};
  EXPECT_EQ(ToString(error), "denied: disk full");
  EXPECT_EQ(ToString(WithContext(error, "upload")), "denied: upload: disk full");
}

TEST(ErrorTest, EveryCodeHasANameOfItsOwn) {
  for (int code = 0; code < static_cast<int>(ErrorCode::kClosed); ++code) {
    EXPECT_NE(ErrorCodeName(ErrorCode{code}), ErrorCodeName(ErrorCode{code + 1}));
  }
}

TEST(MatchersTest, AFailureShowsTheError) {
  EXPECT_THAT(::testing::PrintToString(Half(3)), HasSubstr("invalid_argument: odd"));
  EXPECT_EQ(::testing::PrintToString(Half(2)), "ok, holds 1");
}

}  // namespace
}  // namespace batchweave
