#include "batchweave/store/cloud/cloud_call.h"

#include <string>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave {
namespace {

ErrorCode CodeOf(BwcCode code) {
  switch (code) {
    case kBwcInvalidArgument: return ErrorCode::kInvalidArgument;
    case kBwcNotFound: return ErrorCode::kNotFound;
    case kBwcAlreadyExists: return ErrorCode::kAlreadyExists;
    case kBwcUnavailable: return ErrorCode::kUnavailable;
    case kBwcUnknownOutcome: return ErrorCode::kUnknownOutcome;
    case kBwcDenied: return ErrorCode::kDenied;
    case kBwcOk: break;
  }
  BW_CHECK(false);
  return ErrorCode::kUnavailable;
}

}  // namespace

Error ErrorOf(const BwcStatus& status, std::string_view what, std::string_view key) {
  std::string message(what);
  message.append(" failed: ").append(status.message, status.message_size);
  if (!key.empty()) message.append(": key=").append(key);
  return {CodeOf(status.code), std::move(message)};
}

}  // namespace batchweave
