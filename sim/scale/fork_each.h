// Work in several processes: each piece in its own, so that its memory is given back, and as many at once as are wanted.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace batchweave::sim {

// Calls `work(i)` for each i below `count`, and returns what each said, in order; none of one whose process died. `told`
// is told of each as it comes.
std::vector<std::optional<std::string>> ForkEach(size_t count, size_t jobs,
                                                 const std::function<std::string(size_t)>& work,
                                                 const std::function<void(size_t, const std::string&)>& told);

}  // namespace batchweave::sim
