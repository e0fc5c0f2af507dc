#include "batchweave/base/error.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/base/check.h"

namespace batchweave {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kAlreadyExists: return "already_exists";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kUnknownOutcome: return "unknown_outcome";
    case ErrorCode::kDenied: return "denied";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kTrimmed: return "trimmed";
    case ErrorCode::kFenced: return "fenced";
    case ErrorCode::kStalled: return "stalled";
    case ErrorCode::kMeshMismatch: return "mesh_mismatch";
    case ErrorCode::kSealed: return "sealed";
    case ErrorCode::kIncompatible: return "incompatible";
    case ErrorCode::kUnsuitableStore: return "unsuitable_store";
    case ErrorCode::kClosed: return "closed";
  }
  BW_CHECK(false);
}

std::string ToString(const Error& error) { return fmt::format("{}: {}", ErrorCodeName(error.code), error.message); }

Error WithContext(Error error, std::string_view context) {
  error.message = fmt::format("{}: {}", context, error.message);
  return error;
}

}  // namespace batchweave
