// What docs/commit-control.md promises of the law that users get.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace batchweave::sim {

// The key of `row`, as `bw_sim scale --json` prints it, that does not keep what is promised; empty: it keeps all.
std::string Missed(const nlohmann::ordered_json& row);

}  // namespace batchweave::sim
