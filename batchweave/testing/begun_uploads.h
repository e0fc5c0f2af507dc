// Uploads that tests begin, and nobody completes.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/store/unfinished_uploads.h"

namespace batchweave {

// Not safe for concurrent use.
class BegunUploads final : public UnfinishedUploads {
 public:
  void Begin(std::string key) { uploads_.push_back({.key = std::move(key), .id = std::to_string(++begun_)}); }
  // The n-th call from now on fails.
  void FailCall(int n) { calls_until_failure_ = n; }

  // Of what is left, in the order in which it was begun.
  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    for (const UnfinishedUpload& upload : uploads_) keys.push_back(upload.key);
    return keys;
  }

  Result<std::vector<UnfinishedUpload>> ListUnfinished(std::string_view prefix) override {
    BW_TRY(MayFail());
    std::vector<UnfinishedUpload> listed = uploads_;
    std::erase_if(listed, [&](const UnfinishedUpload& upload) { return !upload.key.starts_with(prefix); });
    return listed;
  }

  Result<void> AbortUnfinished(const UnfinishedUpload& upload) override {
    BW_TRY(MayFail());
    std::erase_if(uploads_, [&](const UnfinishedUpload& it) { return it.key == upload.key && it.id == upload.id; });
    return {};
  }

 private:
  Result<void> MayFail() {
    if (calls_until_failure_ == 0) return {};
    calls_until_failure_ -= 1;
    if (calls_until_failure_ > 0) return {};
    return Error{ErrorCode::kDenied, "as the test wants it"};
  }

  std::vector<UnfinishedUpload> uploads_;
  int begun_ = 0;
  int calls_until_failure_ = 0;  // 0: never.
};

}  // namespace batchweave
