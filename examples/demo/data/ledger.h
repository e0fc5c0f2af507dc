// Which parts of which samples arrived: the book that the audit is made from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "examples/demo/data/slice.h"
#include "examples/demo/data/wire.h"

namespace batchweave::demo {

// What the audit found, in samples. A sample may be both missing a part and have another twice.
struct AuditReport {
  uint64_t samples = 0;               // That should have arrived.
  uint64_t delivered = 0;             // Exactly once, whole.
  uint64_t missing = 0;               // Not at all, or not whole.
  uint64_t duplicates = 0;            // In whole or in part more than once.
  uint64_t unknown = 0;               // That are not of the corpus.
  std::vector<std::string> findings;  // The first of them in words, at most kFindingsMax.

  bool clean() const { return delivered == samples && missing == 0 && duplicates == 0 && unknown == 0; }
};

inline constexpr size_t kFindingsMax = 10;

// Like Statistic, the same in whatever order it was recorded and merged.
class Ledger {
 public:
  // Books every span of the slice.
  void Record(const Slice& slice);
  void Merge(const Ledger& other);

  // Compares with the ids that should have arrived, which come from listing the sources, not from what was published.
  // A sample was delivered if its spans agree on its length and tile [0, length) without a gap or an overlap.
  AuditReport Audit(const std::vector<std::string>& expected_ids) const;

  void EncodeTo(Writer& writer) const;
  // Errors: kCorrupt.
  static Result<Ledger> DecodeFrom(Reader& reader);

  // Equal only if what arrived was cut alike.
  friend bool operator==(const Ledger& a, const Ledger& b);

 private:
  struct Extent {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t length = 0;
    friend auto operator<=>(const Extent&, const Extent&) = default;
  };
  struct Verdict {
    bool missing = false;
    bool duplicate = false;
  };
  static Verdict Judge(std::vector<Extent> extents);

  std::map<std::string, std::vector<Extent>, std::less<>> extents_;
};

}  // namespace batchweave::demo
