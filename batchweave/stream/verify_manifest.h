// What must hold within one manifest and between two that follow each other. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/format/manifest.h"
#include "batchweave/stream/verify.h"

namespace batchweave {

// I2 and I6 of docs/protocol.md: `after` extends `before`, of which it is the direct successor. Given heads alone (their
// tails are the newest entries, and they have no rows), compares what both have.
std::vector<Finding> CheckSuccessor(const Manifest& before, const Manifest& after);

// I5 and I6: the entries of each producer follow each other without gap or repeat, under incarnations that never fall,
// and its row agrees with the last of them. Not safe for concurrent use.
class ProducerCheck {
 public:
  // `first` is the first step that is given: from 0 on, the first batch of each producer must be its first.
  explicit ProducerCheck(Step first) : first_(first) {}

  // Every entry, in order.
  void Add(Step step, const Entry& entry);

  // After the last entry; `rows` are those of all producers. What was found, in all.
  std::vector<Finding> Finish(const std::vector<ProducerRow>& rows);

 private:
  struct Last {
    Step step;
    uint64_t seq = 0;
    Incarnation incarnation;
  };
  void CheckFollows(Step step, const Entry& entry, const Last& last);
  void CheckRow(const ProducerRow& row, const Last& last);
  void Broken(std::string_view invariant, Step step, std::string message);

  const Step first_;
  std::map<std::string, Last, std::less<>> last_;
  std::vector<Finding> findings_;
};

}  // namespace batchweave
