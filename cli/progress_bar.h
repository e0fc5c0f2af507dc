// A line on the terminal for what takes longer than a second. It is gone when the work is done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "batchweave/base/clock.h"
#include "cli/console.h"

namespace batchweave::cli {

enum class Unit { kThings, kBytes };

// Not safe for concurrent use.
class ProgressBar {
 public:
  // Draws only where standard error is a terminal and the results are text. `clock` must outlive the bar.
  ProgressBar(const Console& console, Clock& clock);
  ~ProgressBar();  // Takes the line away.
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `done` of `total` (0: not known) in `phase`; another phase begins anew.
  void Update(std::string_view phase, uint64_t done, uint64_t total, Unit unit);

 private:
  std::string Line(uint64_t done, uint64_t total, Unit unit, Duration elapsed) const;

  Clock& clock_;
  const bool enabled_;
  std::string phase_;
  TimePoint phase_began_{};
  TimePoint draw_at_{};
  bool drawn_ = false;
};

}  // namespace batchweave::cli
