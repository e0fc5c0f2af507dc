// The full probe of a store, for `doctor`: all of store_probe.h, and what only many racing creators, longer lists and
// larger objects show; then how fast the store is.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "batchweave/store/env.h"

namespace batchweave {

// How fast objects of one size were written and read, one at a time.
struct SizeFigures {
  uint64_t size_bytes = 0;
  uint64_t objects = 0;
  Duration put_p50{};
  Duration put_p99{};
  Duration get_p50{};
  Duration get_p99{};
  double put_bytes_per_s = 0;
  double get_bytes_per_s = 0;
};

struct FullProbeOptions {
  Duration time_per_size = std::chrono::milliseconds(1500);  // About; an object is never cut short.
  uint64_t object_bytes_max = uint64_t{64} << 20;            // Sizes beyond it are left out.
  std::function<void(std::string_view phase)> progress{};    // Told of each phase as it begins.
};

// Tries every rule of docs/protocol.md through two handles of one store, `env.store` and `second`, with objects below
// `prefix` (which ends in '/', holds a fresh nonce, and is nobody else's), and removes them. Some thousand requests, 32
// threads at once. Returns the figures, smallest size first.
// Errors: kUnsuitableStore (names the rule that was broken), kDenied, kUnavailable (nothing was learnt: try again, with
// another nonce), kInvalidArgument.
Result<std::vector<SizeFigures>> ProbeFully(Env env, ObjectStore& second, std::string_view prefix,
                                            const FullProbeOptions& options = {});

// Removes what probes below `prefix` left behind when they were stopped; none may be under way. What no key of ours can
// name (object_store.h) is left alone. Returns the number of objects.
// Errors: kDenied, kUnavailable.
Result<uint64_t> CleanProbes(ObjectStore& store, std::string_view prefix);

}  // namespace batchweave
