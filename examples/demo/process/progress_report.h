// How a producer or a rank of the demo tells how far it is: one JSON object a line, on its standard output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace batchweave::demo {

struct ProgressReport {
  enum class Event {
    kBegin,  // It is up, and goes on at `at`.
    kStep,   // One more batch is published, or one more step folded.
    kEnd,    // All is done and safe; the process exits next.
  };
  Event event = Event::kStep;
  uint64_t at = 0;        // Of a producer: its batches so far, those of earlier lives too. Of a rank: its position.
  double share = 0;       // Of a producer: how much of its sources is packed, from 0 to 1.
  uint64_t saved = 0;     // Of a rank: the position of its last saved record, where it would come back.
  uint64_t bytes = 0;     // Of a rank: slice bytes that this process got so far,
  uint64_t requests = 0;  // by this many requests.
  friend bool operator==(const ProgressReport&, const ProgressReport&) = default;
};

// To standard output, at once.
void PrintReport(const ProgressReport& report);

// None where `line` is not a report.
std::optional<ProgressReport> ParseReport(std::string_view line);

}  // namespace batchweave::demo
