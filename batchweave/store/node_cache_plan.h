// Which copies of a full node cache go. Pure.
//
// Data goes by in order, so what lies behind whoever needs room is read by nobody any more, and what lies furthest ahead
// is needed last: after a job was set back to a checkpoint, what it had read ahead is still there when it comes to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace batchweave {

struct CachedCopy {
  std::string folder{};  // Of its stream.
  std::string name{};    // In the folder.
  uint64_t step = 0;     // 0: of none.
  uint64_t bytes = 0;    // That it takes on the disk.
};

// Indices of the copies that go, in order, so that at most `bytes_max` are left, for one of `step` in `folder`. The folder
// that holds most gives first, so that no stream pushes another out: its own from the oldest step up to `step`, then from
// the newest down; another one from the oldest.
std::vector<size_t> PlanEviction(std::span<const CachedCopy> copies, uint64_t bytes_max, const std::string& folder,
                                 uint64_t step);

}  // namespace batchweave
