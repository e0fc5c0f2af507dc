// What happened, in order: its hash tells whether two runs were the same, its end tells a person the story.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "sim/scheduler.h"

namespace batchweave::sim {

class Trace {
 public:
  // Prints each line as it comes, to standard error.
  void PrintAll() { print_all_ = true; }

  // `who` did `verb` to `subject`, with `outcome`.
  void Add(SimTime when, std::string_view who, std::string_view verb, std::string_view subject,
           std::string_view outcome);

  uint64_t hash() const { return hash_; }
  uint64_t size() const { return size_; }
  // The newest lines that have `part` in them, oldest first: at most `lines`.
  std::string Story(size_t lines, std::string_view part = {}) const;

 private:
  struct Line {
    SimTime when;
    std::string who;
    std::string_view verb;  // A literal.
    std::string subject;
    std::string outcome;
  };
  static std::string Text(const Line& line);

  // Long enough to go back from a breach to what led to it, short enough for a thousand runs in a row.
  static constexpr size_t kLinesKept = 20'000;

  std::deque<Line> lines_;
  uint64_t hash_ = 0;
  uint64_t size_ = 0;
  bool print_all_ = false;
};

// "1:02:03.456789".
std::string TimeText(SimTime when);

}  // namespace batchweave::sim
