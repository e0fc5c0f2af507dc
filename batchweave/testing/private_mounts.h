// File systems of a test's own: a small tmpfs, a read-only one, an overlay. Nothing of it is seen outside the process.
#pragma once

#include <cstddef>
#include <string>

namespace batchweave {

// Moves the calling thread, and those it starts from then on, to mounts of its own. False where the system does not let
// it (no privileges, inside a container): then a test may only be skipped.
bool EnterPrivateMounts();

// One mount; undone when destroyed. After EnterPrivateMounts() only.
class ScopedMount {
 public:
  // A tmpfs of at most `size_bytes` at `path`.
  static ScopedMount Tmpfs(const std::string& path, size_t size_bytes);
  // The directory `path` once more over itself, read-only.
  static ScopedMount ReadOnly(const std::string& path);
  // An overlay at `path`/merged; its layers are made beside it. `path` must not itself lie on an overlay.
  static ScopedMount Overlay(const std::string& path);

  ScopedMount(ScopedMount&& other) noexcept;
  ScopedMount& operator=(ScopedMount&&) = delete;
  ~ScopedMount();

  bool mounted() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

 private:
  explicit ScopedMount(std::string path) : path_(std::move(path)) {}

  std::string path_;  // Empty where it could not be mounted.
};

}  // namespace batchweave
