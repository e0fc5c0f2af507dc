#include "cli/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/text.h"

namespace batchweave::cli {
namespace {

constexpr Duration kPatience = std::chrono::seconds(1);
constexpr Duration kRedraw = std::chrono::milliseconds(100);
constexpr size_t kBarWidth = 24;
constexpr const char* kClearLine = "\r\033[K";

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string Amount(uint64_t amount, Unit unit) { return unit == Unit::kBytes ? HumanSize(amount) : Grouped(amount); }

}  // namespace

ProgressBar::ProgressBar(const Console& console, Clock& clock)
    : clock_(clock), enabled_(!console.json() && console.error_is_terminal()) {}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "{}", kClearLine);
}

void ProgressBar::Update(std::string_view phase, uint64_t done, uint64_t total, Unit unit) {
  if (!enabled_) return;
  const TimePoint now = clock_.Now();
  if (phase != phase_) {
    phase_ = phase;
    phase_began_ = now;
    if (!drawn_) draw_at_ = After(now, kPatience);
  }
  if (now < draw_at_) return;
  draw_at_ = After(now, kRedraw);
  drawn_ = true;
  fmt::print(stderr, "{}{}", kClearLine, Line(done, total, unit, now - phase_began_));
  std::fflush(stderr);
}

std::string ProgressBar::Line(uint64_t done, uint64_t total, Unit unit, Duration elapsed) const {
  const double seconds = std::max(Seconds(elapsed), 1e-3);
  const auto rate = static_cast<uint64_t>(static_cast<double>(done) / seconds);
  if (total == 0) return fmt::format("{}: {}, {}/s", phase_, Amount(done, unit), Amount(rate, unit));
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<size_t>(share * kBarWidth);
  const std::string left = rate == 0 || done >= total ? "" : fmt::format(", {} s left", (total - done) / rate);
  return fmt::format("{} [{}{}] {:3.0f} %  {} of {}, {}/s{}", phase_, std::string(filled, '#'),
                     std::string(kBarWidth - filled, '.'), share * 100, Amount(done, unit), Amount(total, unit),
                     Amount(rate, unit), left);
}

}  // namespace batchweave::cli
