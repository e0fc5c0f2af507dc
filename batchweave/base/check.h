// BW_CHECK(condition): for bugs only, never for what a store, a file or a user can cause. On in every build.
#pragma once

namespace batchweave {

// Writes where and which condition to standard error, and aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace batchweave

#define BW_CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::batchweave::CheckFailed(#condition, __FILE__, __LINE__))
