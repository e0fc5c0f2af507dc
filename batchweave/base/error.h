// What can go wrong, coarsely: a code says what the caller does about it, the message tells a person what and which.
#pragma once

#include <string>
#include <string_view>

namespace batchweave {

enum class ErrorCode {
  kInvalidArgument,  // The call itself is wrong: fix the caller.
  kNotFound,         // There is nothing by that name.
  kAlreadyExists,    // Create-only, and it is there already.
  kUnavailable,      // Nothing happened: retry.
  kUnknownOutcome,   // A write may have happened: read back before anything else.
  kDenied,           // Permission, read-only, quota, disk full: a person must act.
  kCorrupt,          // The bytes are not what was written.
  kTrimmed,          // The step or version was there, and is past: begin at a newer one.
  kFenced,           // A newer holder of the same name has taken over: stop.
  kStalled,          // The deadline passed while waiting for data: the message says what was awaited.
  kMeshMismatch,     // The ranks cannot share this grid evenly.
  kSealed,           // The stream has ended: stop.
  kIncompatible,     // Written by a newer version of the software: upgrade.
  kUnsuitableStore,  // The store breaks a rule that the protocol stands on.
  kClosed,           // The handle was closed.
};

// The code in words, as people and JSON see it, e.g. "not_found".
std::string_view ErrorCodeName(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code;
  std::string message;  // Lowercase; what and which, values last: "checksum mismatch: key=a/b expected=1f found=00".

  friend bool operator==(const Error&, const Error&) = default;
};

// "not_found: no such stream: name=llm-7b"
std::string ToString(const Error& error);

// `error` with `context` before its message: {kDenied, "disk full"}, "upload" -> {kDenied, "upload: disk full"}.
Error WithContext(Error error, std::string_view context);

}  // namespace batchweave
