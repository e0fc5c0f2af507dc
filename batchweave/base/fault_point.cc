#include "batchweave/base/fault_point.h"

#ifdef BATCHWEAVE_MUTANTS

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>

#include "batchweave/base/check.h"

namespace batchweave {
namespace {

constexpr FaultPointInfo kFaultPoints[] = {
#define BW_INFO(label, place) {label, place},
    BW_FAULT_POINTS(BW_INFO)
#undef BW_INFO
};

// The process's own, as the active mutation is.
struct State {
  std::optional<FaultPoint> point{};
  std::atomic<uint64_t> reached{0};
};

State& TheState() {
  static State state;
  static const bool is_read = [] {
    const char* const text = std::getenv("BATCHWEAVE_FAULT_POINT");
    if (text == nullptr) return false;
    state.point = ParseFaultPoint(text);
    BW_CHECK(state.point);  // A test that names no point would pass.
    return true;
  }();
  static_cast<void>(is_read);
  return state;
}

}  // namespace

std::span<const FaultPointInfo> AllFaultPoints() { return kFaultPoints; }

std::optional<FaultPoint> ParseFaultPoint(std::string_view text) {
  constexpr std::string_view kStop = ":stop";
  FaultPoint point;
  if (text.ends_with(kStop)) {
    point.stop = true;
    text.remove_suffix(kStop.size());
  }
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data() + colon + 1, end, point.nth);
    if (error != std::errc() || parsed != end || point.nth == 0) return std::nullopt;
    text = text.substr(0, colon);
  }
  const auto* const found = std::ranges::find(kFaultPoints, text, &FaultPointInfo::label);
  if (found == std::end(kFaultPoints)) return std::nullopt;
  point.label = found->label;
  return point;
}

bool SetFaultPoint(std::string_view text) {
  const std::optional<FaultPoint> point = ParseFaultPoint(text);
  if (point) TheState().point = point;
  return point.has_value();
}

void ReachFaultPoint(std::string_view label) {
  State& state = TheState();
  if (!state.point || state.point->label != label || ++state.reached != state.point->nth) return;
  std::raise(state.point->stop ? SIGSTOP : SIGKILL);
}

}  // namespace batchweave

#endif
