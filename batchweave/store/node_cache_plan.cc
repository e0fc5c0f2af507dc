#include "batchweave/store/node_cache_plan.h"

#include <algorithm>
#include <map>

namespace batchweave {
namespace {

struct Folder {
  std::vector<size_t> copies;  // Those that go first are last.
  uint64_t bytes = 0;
};

}  // namespace

std::vector<size_t> PlanEviction(std::span<const CachedCopy> copies, uint64_t bytes_max, const std::string& folder,
                                 uint64_t step) {
  std::map<std::string, Folder> folders;
  uint64_t bytes = 0;
  for (size_t i = 0; i < copies.size(); ++i) {
    Folder& its = folders[copies[i].folder];
    its.copies.push_back(i);
    its.bytes += copies[i].bytes;
    bytes += copies[i].bytes;
  }
  for (auto& [name, its] : folders) {
    const bool is_own = name == folder;
    const auto goes_later = [&, is_own](size_t a, size_t b) {
      const uint64_t left = copies[a].step;
      const uint64_t right = copies[b].step;
      const bool left_is_ahead = is_own && left >= step;
      const bool right_is_ahead = is_own && right >= step;
      if (left_is_ahead != right_is_ahead) return left_is_ahead;
      if (left == right) return a > b;
      return left_is_ahead ? left < right : left > right;
    };
    std::ranges::sort(its.copies, goes_later);
  }
  std::vector<size_t> gone;
  while (bytes > bytes_max) {
    const auto fullest =
        std::ranges::max_element(folders, [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
    const size_t copy = fullest->second.copies.back();
    fullest->second.copies.pop_back();
    fullest->second.bytes -= copies[copy].bytes;
    bytes -= copies[copy].bytes;
    gone.push_back(copy);
  }
  return gone;
}

}  // namespace batchweave
