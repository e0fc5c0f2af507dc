#include "examples/demo/data/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace batchweave::demo {
namespace {

void AddFinding(AuditReport& report, std::string_view what, std::string_view id) {
  if (report.findings.size() < kFindingsMax) report.findings.push_back(fmt::format("{}: sample={}", what, id));
}

template <typename T>
std::vector<T> Sorted(std::vector<T> values) {
  std::ranges::sort(values);
  return values;
}

}  // namespace

void Ledger::Record(const Slice& slice) {
  for (const SampleSpan& span : slice.spans) {
    extents_[span.id].push_back({.begin = span.begin, .end = span.end, .length = span.length});
  }
}

void Ledger::Merge(const Ledger& other) {
  for (const auto& [id, extents] : other.extents_) {
    std::vector<Extent>& mine = extents_[id];
    mine.insert(mine.end(), extents.begin(), extents.end());
  }
}

Ledger::Verdict Ledger::Judge(std::vector<Extent> extents) {
  Verdict verdict;
  uint32_t covered = 0;
  const uint32_t length = extents.front().length;
  for (const Extent& extent : Sorted(std::move(extents))) {
    // Of two lengths one is false, and what lies between them is missing.
    if (extent.begin > covered || extent.length != length) verdict.missing = true;
    if (extent.begin < covered) verdict.duplicate = true;
    covered = std::max(covered, extent.end);
  }
  if (covered != length) verdict.missing = true;
  return verdict;
}

AuditReport Ledger::Audit(const std::vector<std::string>& expected_ids) const {
  AuditReport report;
  const std::set<std::string_view> expected(expected_ids.begin(), expected_ids.end());
  report.samples = expected.size();
  for (const std::string_view id : expected) {
    const auto found = extents_.find(id);
    const Verdict verdict = found == extents_.end() ? Verdict{.missing = true} : Judge(found->second);
    report.missing += verdict.missing;
    report.duplicates += verdict.duplicate;
    report.delivered += !verdict.missing && !verdict.duplicate;
    if (verdict.missing) AddFinding(report, "missing, in whole or in part", id);
    if (verdict.duplicate) AddFinding(report, "delivered more than once, in whole or in part", id);
  }
  for (const auto& [id, extents] : extents_) {
    if (expected.contains(id)) continue;
    ++report.unknown;
    AddFinding(report, "not of the corpus", id);
  }
  return report;
}

void Ledger::EncodeTo(Writer& writer) const {
  writer.PutU32(static_cast<uint32_t>(extents_.size()));
  for (const auto& [id, extents] : extents_) {
    writer.PutText(id);
    writer.PutU32(static_cast<uint32_t>(extents.size()));
    for (const Extent& extent : extents) {
      writer.PutU32(extent.begin);
      writer.PutU32(extent.end);
      writer.PutU32(extent.length);
    }
  }
}

Result<Ledger> Ledger::DecodeFrom(Reader& reader) {
  Ledger ledger;
  const uint32_t samples = BW_TRY(reader.TakeU32());
  for (uint32_t i = 0; i < samples; ++i) {
    std::vector<Extent>& extents = ledger.extents_[std::string(BW_TRY(reader.TakeText()))];
    const uint32_t count = BW_TRY(reader.TakeU32());
    if (count == 0) return Error{ErrorCode::kCorrupt, "ledger has a sample of which nothing arrived"};
    for (uint32_t j = 0; j < count; ++j) {
      Extent extent;
      extent.begin = BW_TRY(reader.TakeU32());
      extent.end = BW_TRY(reader.TakeU32());
      extent.length = BW_TRY(reader.TakeU32());
      extents.push_back(extent);
    }
  }
  return ledger;
}

bool operator==(const Ledger& a, const Ledger& b) {
  return std::ranges::equal(a.extents_, b.extents_, [](const auto& x, const auto& y) {
    return x.first == y.first && Sorted(x.second) == Sorted(y.second);
  });
}

}  // namespace batchweave::demo
