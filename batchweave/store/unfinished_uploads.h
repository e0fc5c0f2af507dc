// Objects that somebody began to upload in parts, and that nobody has made of them: by processes that are at it, and by those that
// died at it. The parts of the latter lie in the bucket, unseen by List and paid for, until somebody aborts the upload.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/result.h"

namespace batchweave {

struct UnfinishedUpload {
  std::string key;
  std::string id;  // The store's: of one key there may be several.
};

// Safe for concurrent use.
class UnfinishedUploads {
 public:
  virtual ~UnfinishedUploads() = default;

  // All whose keys begin with `prefix`; none where the store keeps none for long, or cannot tell of them.
  // Errors: kUnavailable, kDenied (names the right that is missing).
  virtual Result<std::vector<UnfinishedUpload>> ListUnfinished(std::string_view prefix) = 0;

  // Who is still at it is told that it failed. One that is gone is no error. Errors: kUnavailable, kDenied.
  virtual Result<void> AbortUnfinished(const UnfinishedUpload& upload) = 0;
};

}  // namespace batchweave
