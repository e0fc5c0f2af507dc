#include "batchweave/consumer/read_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "batchweave/format/tgb.h"

namespace batchweave {
namespace {

// How many numbers two ranges [begin, begin + count) share.
uint64_t Shared(uint32_t a_begin, uint32_t a_count, uint32_t b_begin, uint32_t b_count) {
  const uint64_t begin = std::max(a_begin, b_begin);
  const uint64_t end = std::min(uint64_t{a_begin} + a_count, uint64_t{b_begin} + b_count);
  return end > begin ? end - begin : 0;
}

uint64_t SharedSlices(const GridRange& a, const GridRange& b) {
  return Shared(a.dp_begin, a.dp_count, b.dp_begin, b.dp_count) *
         Shared(a.cp_begin, a.cp_count, b.cp_begin, b.cp_count);
}

bool Contains(const GridRange& range, Coordinate at) {
  return Shared(range.dp_begin, range.dp_count, at.dp, 1) == 1 && Shared(range.cp_begin, range.cp_count, at.cp, 1) == 1;
}

uint64_t SliceEnd(const PlannedSlice& slice) { return slice.offset + slice.size_bytes + kTrailerBytes; }

// Where the slice after this one begins.
uint64_t PaddedEnd(uint64_t end) { return (end + kSliceAlignment - 1) / kSliceAlignment * kSliceAlignment; }

class Planner {
 public:
  explicit Planner(std::span<const Part> parts) : parts_(parts), layouts_(parts.size()) {}

  Result<void> Add(Coordinate at) {
    BW_TRY(FindPart(at));
    const Part& part = parts_[part_];
    const PartLayout& layout = *layouts_[part_];
    const PlannedSlice slice{.at = at, .offset = layout.SliceOffset(at), .size_bytes = layout.SliceBytes(at)};
    if (part.nonce != run_.nonce || run_.slice_count == 0 || slice.offset != PaddedEnd(run_.offset + run_.size_bytes)) {
      EndRun();
      run_ = {.nonce = part.nonce,
              .offset = slice.offset,
              .size_bytes = 0,
              .first_slice = plan_.slices.size(),
              .slice_count = 0};
    }
    run_.size_bytes = SliceEnd(slice) - run_.offset;
    run_.slice_count += 1;
    run_content_bytes_ += slice.size_bytes;
    plan_.slices.push_back(slice);
    return {};
  }

  ReadPlan Finish() {
    EndRun();
    return std::move(plan_);
  }

 private:
  // Sets part_, and its layout. Neighbours are nearly always in the part of the slice before.
  Result<void> FindPart(Coordinate at) {
    if (part_ == parts_.size() || !Contains(parts_[part_].range, at)) {
      const auto found = std::ranges::find_if(parts_, [&](const Part& part) { return Contains(part.range, at); });
      if (found == parts_.end()) {
        return Error{ErrorCode::kCorrupt, fmt::format("a slice lies in no part: dp={} cp={}", at.dp, at.cp)};
      }
      part_ = static_cast<size_t>(found - parts_.begin());
    }
    if (layouts_[part_]) return {};
    const Part& part = parts_[part_];
    layouts_[part_] = BW_TRY(PartLayout::Make(part.range, part.slice_bytes));
    const uint64_t payload_end = layouts_[part_]->payload_end();
    if (payload_end <= part.object_bytes) return {};
    return Error{ErrorCode::kCorrupt,
                 fmt::format("slices lie beyond the end of their object: slices end={} object bytes={}", payload_end,
                             part.object_bytes)};
  }

  void EndRun() {
    if (run_content_bytes_ > 0) plan_.reads.push_back(run_);
    run_ = {};
    run_content_bytes_ = 0;
  }

  const std::span<const Part> parts_;
  std::vector<std::optional<PartLayout>> layouts_;  // Of the parts that hold a wanted slice.
  size_t part_ = 0;
  PlannedRead run_;
  uint64_t run_content_bytes_ = 0;
  ReadPlan plan_;
};

}  // namespace

bool Overlap(const GridRange& a, const GridRange& b) { return SharedSlices(a, b) > 0; }

Result<ReadPlan> MakeReadPlan(std::span<const Part> parts, const GridRange& wanted) {
  Planner planner(parts);
  for (uint32_t cp = 0; cp < wanted.cp_count; ++cp) {
    for (uint32_t dp = 0; dp < wanted.dp_count; ++dp) {
      BW_TRY(planner.Add({.dp = wanted.dp_begin + dp, .cp = wanted.cp_begin + cp}));
    }
  }
  return planner.Finish();
}

uint64_t EstimateReadBytes(std::span<const Part> parts, const GridRange& wanted) {
  uint64_t bytes = 0;
  for (const Part& part : parts) {
    const uint64_t slices = SharedSlices(part.range, wanted);
    if (slices > 0) bytes += part.object_bytes / part.range.slices() * slices;
  }
  return bytes;
}

}  // namespace batchweave
