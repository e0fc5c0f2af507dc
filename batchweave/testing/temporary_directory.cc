#include "batchweave/testing/temporary_directory.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "batchweave/base/check.h"

namespace batchweave {

TemporaryDirectory::TemporaryDirectory(const std::string& parent)
    : path_((parent.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(parent)) /
            "batchweave-XXXXXX") {
  BW_CHECK(mkdtemp(path_.data()) != nullptr);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace batchweave
