#include "sim/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "batchweave/base/hash.h"

namespace batchweave::sim {

std::string TimeText(SimTime when) {
  const int64_t micros = std::chrono::duration_cast<std::chrono::microseconds>(when).count();
  const int64_t seconds = micros / 1'000'000;
  return fmt::format("{}:{:02}:{:02}.{:06}", seconds / 3600, seconds / 60 % 60, seconds % 60, micros % 1'000'000);
}

void Trace::Add(SimTime when, std::string_view who, std::string_view verb, std::string_view subject,
                std::string_view outcome) {
  uint64_t parts[] = {hash_,
                      static_cast<uint64_t>(when.count()),
                      Hash64(AsBytes(who)),
                      Hash64(AsBytes(verb)),
                      Hash64(AsBytes(subject)),
                      Hash64(AsBytes(outcome))};
  hash_ = Hash64(std::as_bytes(std::span(parts)));
  size_ += 1;
  lines_.push_back({when, std::string(who), verb, std::string(subject), std::string(outcome)});
  if (print_all_) fmt::print(stderr, "{}\n", Text(lines_.back()));
  if (lines_.size() > kLinesKept) lines_.pop_front();
}

std::string Trace::Text(const Line& line) {
  return fmt::format("{:>15}  {:<22} {:<12} {}{}{}", TimeText(line.when), line.who, line.verb, line.subject,
                     line.outcome.empty() ? "" : "  -> ", line.outcome);
}

std::string Trace::Story(size_t lines, std::string_view part) const {
  std::vector<std::string> texts;
  for (auto line = lines_.rbegin(); line != lines_.rend() && texts.size() < lines; ++line) {
    std::string text = Text(*line);
    if (part.empty() || text.find(part) != std::string::npos) texts.push_back(std::move(text));
  }
  std::ranges::reverse(texts);
  return fmt::format("{}\n", fmt::join(texts, "\n"));
}

}  // namespace batchweave::sim
