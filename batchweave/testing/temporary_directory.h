// A directory for one test.
#pragma once

#include <string>

namespace batchweave {

// Made new; removed with all that is in it when this is destroyed.
class TemporaryDirectory {
 public:
  // Below `parent`; where that is empty, below the system's folder for temporaries.
  explicit TemporaryDirectory(const std::string& parent = "");
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace batchweave
