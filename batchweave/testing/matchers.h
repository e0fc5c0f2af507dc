// Matchers for Result, and how errors look when a test fails.
//
//   EXPECT_THAT(store.Stat("a"), IsOkAndHolds(3u));
//   EXPECT_THAT(store.Stat("b"), IsError(ErrorCode::kNotFound, HasSubstr("key=b")));
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <type_traits>
#include <utility>

#include "batchweave/base/result.h"

namespace batchweave {

inline void PrintTo(ErrorCode code, std::ostream* out) { *out << ErrorCodeName(code); }
inline void PrintTo(const Error& error, std::ostream* out) { *out << ToString(error); }

template <typename T>
void PrintTo(const Result<T>& result, std::ostream* out) {
  if (!result.ok()) {
    *out << "failed with " << ToString(result.error());
    return;
  }
  *out << "ok";
  if constexpr (!std::is_void_v<T>) *out << ", holds " << ::testing::PrintToString(result.value());
}

// Success, whatever the value.
MATCHER(IsOk, negation ? "is an error" : "is ok") {
  // gtest prints the argument, and with it the error.
  static_cast<void>(result_listener);
  return arg.ok();
}

// Success with a value that `inner` (a value or a matcher) matches.
MATCHER_P(IsOkAndHolds, inner, "is ok and holds a value that " + ::testing::PrintToString(inner)) {
  return arg.ok() && ::testing::ExplainMatchResult(inner, arg.value(), result_listener);
}

// Failure with just this code.
MATCHER_P(IsError, code, std::string(negation ? "isn't " : "is ") + std::string(ErrorCodeName(code))) {
  static_cast<void>(result_listener);
  return !arg.ok() && arg.error().code == code;
}

// Failure with this code and a message that `message` (a string or a matcher) matches.
MATCHER_P2(IsError, code, message, std::string(negation ? "isn't " : "is ") + std::string(ErrorCodeName(code))) {
  return !arg.ok() && arg.error().code == code &&
         ::testing::ExplainMatchResult(message, arg.error().message, result_listener);
}

}  // namespace batchweave
