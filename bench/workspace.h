// A fresh folder for the files of one benchmark: what an earlier run left there must not be measured.
#pragma once

#include <string>
#include <string_view>

#include "batchweave/base/result.h"

namespace batchweave::bench {

// Not safe for concurrent use. Destroying it removes the folder with all that is in it.
class Workspace {
 public:
  // Below `parent`, or where that is empty below the system's folder for temporary files.
  // Errors: kDenied (it cannot be made there).
  static Result<Workspace> Make(const std::string& parent);

  Workspace(Workspace&& other) noexcept;
  Workspace& operator=(Workspace&&) = delete;
  ~Workspace();

  const std::string& path() const { return path_; }

  // The empty folder `name` in it; what was there by that name is removed. Errors: kDenied.
  Result<std::string> Fresh(std::string_view name) const;

  // Removes the folder `name` in it, outside of what is timed.
  void Remove(std::string_view name) const;

 private:
  explicit Workspace(std::string path);

  std::string path_;
};

}  // namespace batchweave::bench
