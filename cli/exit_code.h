// What the command's exit code says: one table, for main, for --help and for the tests.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "batchweave/base/error.h"

namespace batchweave::cli {

struct ExitCode {
  int code;
  std::optional<ErrorCode> error;  // None: no error of the library.
  std::string_view meaning;
};

// Part of the interface: a code never changes its meaning, new ones come at the end.
inline constexpr std::array kExitCodes = {
    ExitCode{0, std::nullopt, "done"},
    ExitCode{1, std::nullopt, "failed in a way that is not listed here"},
    ExitCode{2, ErrorCode::kInvalidArgument, "wrong use: an option, a name or a URL"},
    ExitCode{3, ErrorCode::kNotFound, "not found: no such folder, stream or step"},
    ExitCode{4, ErrorCode::kAlreadyExists, "exists already"},
    ExitCode{5, ErrorCode::kDenied, "denied: permission, read-only, quota, disk full"},
    ExitCode{6, ErrorCode::kUnavailable, "unavailable: nothing happened, try again"},
    ExitCode{7, ErrorCode::kUnknownOutcome, "unknown outcome: a write may have happened, look first"},
    ExitCode{8, ErrorCode::kCorrupt, "corrupt: data is damaged, or an invariant does not hold"},
    ExitCode{9, ErrorCode::kTrimmed, "trimmed: the step was there, and is gone"},
    ExitCode{10, ErrorCode::kFenced, "fenced: a newer holder has taken over"},
    ExitCode{11, ErrorCode::kStalled, "stalled: a deadline passed"},
    ExitCode{12, ErrorCode::kMeshMismatch, "mesh mismatch: the ranks cannot share the grid"},
    ExitCode{13, ErrorCode::kSealed, "sealed: the stream has ended"},
    ExitCode{14, ErrorCode::kIncompatible, "incompatible: written by newer software"},
    ExitCode{15, ErrorCode::kUnsuitableStore, "unsuitable store: it breaks a rule of the protocol"},
};

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2;

constexpr int ExitCodeOf(ErrorCode error) {
  for (const ExitCode& exit_code : kExitCodes) {
    if (exit_code.error == error) return exit_code.code;
  }
  return kFailed;
}

}  // namespace batchweave::cli
