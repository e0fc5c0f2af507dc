#include "python/bindings/durations.h"

#include <algorithm>

#include "python/bindings/errors.h"

namespace batchweave::python {
namespace {

constexpr double kSecondsMax = 1e9;

}  // namespace

Duration FromSeconds(double seconds) {
  if (!(seconds >= 0)) Raise({ErrorCode::kInvalidArgument, "a time is a number of seconds, 0 or more"});
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(seconds, kSecondsMax)));
}

Duration PatienceOf(nanobind::handle seconds) {
  return seconds.is_none() ? Duration::max() : FromSeconds(nanobind::cast<double>(seconds));
}

TimePoint DeadlineOf(Clock& clock, nanobind::handle timeout) {
  if (timeout.is_none()) return kForever;
  return After(clock.Now(), FromSeconds(nanobind::cast<double>(timeout)));
}

}  // namespace batchweave::python
