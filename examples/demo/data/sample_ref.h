// Where a sample comes from, before it is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/result.h"

namespace batchweave::demo {

enum class SampleKind : uint8_t { kImageCaption, kText };

// One training sample: a whole file or a piece of one.
struct SampleRef {
  SampleKind kind = SampleKind::kText;
  std::string path;         // Below the folder of raw data; base names repeat, paths do not.
  uint64_t offset = 0;      // In the file, bytes.
  uint64_t size_bytes = 0;  // Of the file, from `offset`.
  friend bool operator==(const SampleRef&, const SampleRef&) = default;
};

// The sample's name in slices, audits and messages: "PATH@OFFSET". Unique in a corpus.
std::string IdOf(const SampleRef& ref);

// One file of a source.
struct SourceFile {
  std::string path;  // Below the folder of raw data.
  uint64_t size_bytes = 0;
};

// All files below `root`/`folder` whose name ends in `suffix`, by path, so that the order is the same on every
// machine. `folder` may be a single file. Links are not followed. Errors: kNotFound, kDenied, kUnavailable.
Result<std::vector<SourceFile>> ListFiles(const std::string& root, const std::string& folder, std::string_view suffix);

}  // namespace batchweave::demo
