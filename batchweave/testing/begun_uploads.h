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

  // Of what is left, in the order in which it was begun.
  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    for (const UnfinishedUpload& upload : uploads_) keys.push_back(upload.key);
    return keys;
  }

  Result<std::vector<UnfinishedUpload>> ListUnfinished(std::string_view prefix) override {
    std::vector<UnfinishedUpload> listed = uploads_;
    std::erase_if(listed, [&](const UnfinishedUpload& upload) { return !upload.key.starts_with(prefix); });
    return listed;
  }

  Result<void> AbortUnfinished(const UnfinishedUpload& upload) override {
    std::erase_if(uploads_, [&](const UnfinishedUpload& it) { return it.key == upload.key && it.id == upload.id; });
    return {};
  }

 private:
  std::vector<UnfinishedUpload> uploads_;
  int begun_ = 0;
};

}  // namespace batchweave
