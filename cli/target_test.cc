#include "cli/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchweave/testing/matchers.h"

namespace batchweave::cli {

namespace {

TEST(TargetTest, WhatIsNotThereIsNotFound) {
  EXPECT_THAT(OpenTarget("/no/such/folder/run"), IsError(ErrorCode::kNotFound));
}

}  // namespace
}  // namespace batchweave::cli
