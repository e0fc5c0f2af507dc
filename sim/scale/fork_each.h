// Work in several processes: each piece in its own, so that its memory is given back, and as many at once as are wanted
// and fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace batchweave::sim {

// What may run at once.
struct ForkLimits {
  size_t jobs = 1;
  uint64_t memory_bytes = UINT64_MAX;  // Of all together; what takes more than that runs alone.
};

// Calls `work(i)` for each i below `memory_bytes.size()`, which says how much each takes, and returns what each said, in
// order; none of one whose process died. Begins them in order, but for what does not fit beside what runs. `told` is told
// of each as it comes.
std::vector<std::optional<std::string>> ForkEach(const std::vector<uint64_t>& memory_bytes, const ForkLimits& limits,
                                                 const std::function<std::string(size_t)>& work,
                                                 const std::function<void(size_t, const std::string&)>& told);

}  // namespace batchweave::sim
