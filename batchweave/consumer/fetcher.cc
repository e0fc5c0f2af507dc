#include "batchweave/consumer/fetcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/consumer/ask_log.h"
#include "batchweave/consumer/slice_verifier.h"
#include "batchweave/format/tgb.h"

namespace batchweave {
namespace {

Error Short(std::string_view key, const PlannedRead& read, size_t received_bytes) {
  return {ErrorCode::kCorrupt, fmt::format("short read: key={} offset={} expected={} found={}", key, read.offset,
                                           read.size_bytes, received_bytes)};
}

Error Altered(std::string_view key, const SliceVerifier::Mismatch& mismatch) {
  return {ErrorCode::kCorrupt, fmt::format("checksum mismatch: key={} slice dp={} cp={} expected={:016x} found={:016x}",
                                           key, mismatch.at.dp, mismatch.at.cp, mismatch.expected, mismatch.found)};
}

// The requests of one plan, with all that they point to.
class PlannedGet {
 public:
  PlannedGet(const ReadPlan& plan, TgbIdentity identity, Step step)
      : plan_(plan), identity_(std::move(identity)), step_(step) {
    // Requests point into these: they must not grow.
    keys_.reserve(plan.reads.size());
    verifiers_.reserve(plan.reads.size());
  }

  void Add(const PlannedRead& read, std::string key, PooledBuffer buffer) {
    keys_.push_back(std::move(key));
    buffers_.push_back(std::move(buffer));
    verifiers_.emplace_back(identity_, std::span(plan_.slices).subspan(read.first_slice, read.slice_count));
    requests_.push_back({.key = keys_.back(),
                         .offset = read.offset,
                         .buffer = buffers_.back().bytes(),
                         .observer = &verifiers_.back(),
                         .step = step_.value});
  }

  Result<void> Send(ObjectStore& store, FetchCost& cost) {
    if (requests_.empty()) return {};
    cost.gets += requests_.size();
    Result<void> sent = store.Get(requests_);
    for (const ReadRequest& request : requests_) cost.bytes += request.received_bytes;
    return sent;
  }

  Result<void> Check() {
    for (size_t i = 0; i < requests_.size(); ++i) {
      const ReadRequest& request = requests_[i];
      const PlannedRead& read = plan_.reads[i];
      if (request.received_bytes != read.size_bytes) return Short(request.key, read, request.received_bytes);
      if (BW_MUTATION(kTrailersNotChecked)) continue;
      const auto mismatch = verifiers_[i].Check(request.buffer);
      if (mismatch) return Altered(request.key, *mismatch);
    }
    return {};
  }

  std::vector<Slice> Slices() const {
    std::vector<Slice> slices;
    slices.reserve(plan_.slices.size());
    for (const PlannedSlice& planned : plan_.slices) slices.push_back({.at = planned.at, .bytes = {}});
    for (size_t i = 0; i < plan_.reads.size(); ++i) {
      const PlannedRead& read = plan_.reads[i];
      for (size_t at = read.first_slice; at < read.first_slice + read.slice_count; ++at) {
        const PlannedSlice& planned = plan_.slices[at];
        slices[at].bytes = requests_[i].buffer.subspan(planned.offset - read.offset, planned.size_bytes);
      }
    }
    return slices;
  }

  std::vector<PooledBuffer> TakeBuffers() { return std::move(buffers_); }

 private:
  const ReadPlan& plan_;
  const TgbIdentity identity_;
  const Step step_;
  std::vector<std::string> keys_;
  std::vector<PooledBuffer> buffers_;
  std::vector<SliceVerifier> verifiers_;
  std::vector<ReadRequest> requests_;
};

}  // namespace

Fetcher::Fetcher(ManifestLog& log, FetcherOptions options)
    : log_(log), store_(log.env().store), options_(options), pool_(options.idle_buffer_bytes_max) {}

Result<RankBatch> Fetcher::FetchOne(const KnownStep& known, FetchCost& cost) {
  Result<RankBatch> batch = Read(known, cost);
  if (!FailedWith(batch, ErrorCode::kNotFound)) return batch;
  const KnownStep anew = BW_TRY(LookUp(log_, known.step));
  if (anew.entry->parts == known.entry->parts) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("an object is missing, though the newest manifest names it: step={} {}", known.step.value,
                             batch.error().message)};
  }
  batch = Read(anew, cost);
  if (!FailedWith(batch, ErrorCode::kNotFound)) return batch;
  return Error{ErrorCode::kCorrupt, fmt::format("an object is missing, and so is the one that replaced it: step={} {}",
                                                known.step.value, batch.error().message)};
}

Result<GridRange> SlicesOfStep(const KnownStep& known, const MeshRank& rank, bool allow_uneven) {
  Result<GridRange> wanted = SlicesOf(known.entry->grid, rank, allow_uneven);
  if (wanted.ok()) return wanted;
  return WithContext(std::move(wanted).error(), fmt::format("step {}", known.step.value));
}

Result<RankBatch> Fetcher::Read(const KnownStep& known, FetchCost& cost) {
  const Entry& entry = *known.entry;
  const GridRange wanted = BW_TRY(SlicesOfStep(known, options_.rank, options_.allow_uneven));
  const bool lengths_known = std::ranges::none_of(
      entry.parts, [&](const Part& part) { return part.slice_bytes.empty() && Overlap(part.range, wanted); });
  std::vector<Part> completed;
  if (!lengths_known) completed = BW_TRY(PartsWithLengths(entry, wanted, cost));
  const ReadPlan plan = BW_TRY(MakeReadPlan(lengths_known ? entry.parts : completed, wanted));

  PlannedGet get(plan,
                 {.stream_id = log_.keys().stream_id,
                  .producer = entry.producer,
                  .incarnation = entry.incarnation,
                  .seq = entry.seq},
                 known.step);
  for (const PlannedRead& read : plan.reads) get.Add(read, KeyOf(entry, read.nonce), pool_.Take(read.size_bytes));
  BW_FAULT_POINT("step.located");
  BW_TRY(get.Send(store_, cost));
  Result<void> checked = get.Check();
  if (!checked.ok()) return WithContext(std::move(checked).error(), fmt::format("step {}", known.step.value));
  std::vector<Slice> slices = get.Slices();
  return RankBatch(known.step, known.entry, std::move(slices), get.TakeBuffers());
}

Result<std::vector<Part>> Fetcher::PartsWithLengths(const Entry& entry, const GridRange& wanted, FetchCost& cost) {
  std::vector<Part> parts = entry.parts;
  for (Part& part : parts) {
    if (part.slice_bytes.empty() && Overlap(part.range, wanted)) {
      part.slice_bytes = BW_TRY(LengthsInFooter(entry, part, cost));
    }
  }
  return parts;
}

Result<std::vector<uint64_t>> Fetcher::LengthsInFooter(const Entry& entry, const Part& part, FetchCost& cost) {
  const std::string key = KeyOf(entry, part.nonce);
  if (part.footer_bytes > part.object_bytes) {
    return Error{ErrorCode::kCorrupt, fmt::format("a footer is longer than its object: key={}", key)};
  }
  Bytes footer_bytes(part.footer_bytes);
  ReadRequest request{.key = key, .offset = part.object_bytes - part.footer_bytes, .buffer = footer_bytes};
  cost.gets += 1;
  BW_TRY(store_.Get({&request, 1}));
  cost.bytes += request.received_bytes;
  Result<TgbFooter> footer = DecodeTgbFooter(ByteView(footer_bytes).first(request.received_bytes));
  if (!footer.ok()) return WithContext(std::move(footer).error(), fmt::format("footer of key={}", key));
  Result<void> fits = CheckFooterOf(*footer, log_.keys().stream_id, entry, part);
  if (!fits.ok()) return WithContext(std::move(fits).error(), fmt::format("footer of key={}", key));
  return std::move(footer->slice_bytes);
}

std::string Fetcher::KeyOf(const Entry& entry, uint64_t nonce) const {
  return log_.keys().Data(entry.producer, entry.incarnation, entry.seq, nonce);
}

}  // namespace batchweave
