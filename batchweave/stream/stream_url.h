// A stream's URL: that of the folder that holds it, and its name as the last component.
#pragma once

#include <string>
#include <string_view>

#include "batchweave/base/result.h"

namespace batchweave {

struct StreamUrl {
  std::string folder;  // For OpenEnv.
  std::string name;
  friend bool operator==(const StreamUrl&, const StreamUrl&) = default;
};

// "file:///data/runs/llm-7b" -> {"file:///data/runs", "llm-7b"}; "llm-7b" -> {".", "llm-7b"}. A final '/' is ignored.
// Errors: kInvalidArgument (no name, or none that a stream may have; a stream in memory, which nobody else can see).
Result<StreamUrl> SplitStreamUrl(std::string_view url);

// `url` as it may be shown: without query, user and password, any of which may hold a secret. A path is left as it is.
std::string ShownUrl(std::string_view url);

}  // namespace batchweave
