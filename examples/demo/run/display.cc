#include "examples/demo/run/display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace batchweave::demo {
namespace {

constexpr Duration kRedraw = std::chrono::milliseconds(200);
constexpr Duration kSayAgain = std::chrono::seconds(5);
constexpr size_t kColumns = 80;  // Where the terminal does not tell.

}  // namespace

Display::Display(Clock& clock) : clock_(clock), began_(clock.Now()), terminal_(isatty(STDOUT_FILENO) == 1) {}

Display::~Display() { Clear(); }

double Display::seconds() const { return std::chrono::duration<double>(clock_.Now() - began_).count(); }

void Display::Say(std::string_view text) { Print(fmt::format("{:5.1f} s  {}", seconds(), text)); }

void Display::Print(std::string_view text) {
  const std::vector<std::string> lines = shown_;
  Clear();
  fmt::print("{}\n", text);
  if (!lines.empty()) {
    show_at_ = {};
    Show(lines);
  }
  std::fflush(stdout);
}

void Display::Show(const std::vector<std::string>& lines) {
  if (lines.empty()) return Clear();
  const TimePoint now = clock_.Now();
  if (now < show_at_) return;
  show_at_ = After(now, terminal_ ? kRedraw : kSayAgain);
  if (!terminal_) return Say(lines.front());
  Clear();
  shown_ = lines;
  for (const std::string& line : shown_) fmt::print("{}\n", std::string_view(line).substr(0, Columns() - 1));
  std::fflush(stdout);
}

void Display::Clear() {
  // Up to the first of them, and away with all below.
  if (!shown_.empty()) fmt::print("\033[{}A\033[J", shown_.size());
  shown_.clear();
  std::fflush(stdout);
}

size_t Display::Columns() const {
  winsize size{};
  const bool told = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return told ? size.ws_col : kColumns;
}

std::string Bar(double share, size_t width) {
  const auto filled = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
  return fmt::format("[{}{}]", std::string(filled, '#'), std::string(width - filled, '.'));
}

}  // namespace batchweave::demo
