// What the demo shows while it runs: what happened, line by line, and on a terminal a few lines below that move.
//
// Not safe for concurrent use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/clock.h"

namespace batchweave::demo {

class Display {
 public:
  // `clock` must outlive it.
  explicit Display(Clock& clock);
  ~Display();  // Takes the moving lines away.
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  // One line, with the seconds since the beginning before it.
  void Say(std::string_view text);

  // As it is, one line.
  void Print(std::string_view text);

  // The moving lines; none takes them away. Where the output is no terminal, the first of them is said now and then.
  void Show(const std::vector<std::string>& lines);

  double seconds() const;

 private:
  void Clear();
  size_t Columns() const;

  Clock& clock_;
  const TimePoint began_;
  const bool terminal_;
  std::vector<std::string> shown_;  // The moving lines that are on the terminal.
  TimePoint show_at_{};
};

// "[######..............]" of `width` characters and the brackets, for a share from 0 to 1.
std::string Bar(double share, size_t width);

}  // namespace batchweave::demo
