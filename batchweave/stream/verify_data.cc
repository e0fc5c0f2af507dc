#include "batchweave/stream/verify_data.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/stream/describe.h"

namespace batchweave {
namespace {

// Memory that deep reads go through.
constexpr size_t kBufferBytes = size_t{8} << 20;

// An object that came altered is read once more: the store may have been at fault, and not the object.
constexpr int kReadsMax = 2;

}  // namespace

DataCheck::DataCheck(Stream& stream, const VerifyOptions& options, uint64_t total, Inventory& inventory,
                     VerifyReport& report)
    : stream_(stream), options_(options), total_(total), inventory_(inventory), report_(report) {
  if (options_.deep) buffer_.resize(kBufferBytes);
}

Result<void> DataCheck::Check(Step step, const Entry& entry) {
  ++report_.entries;
  const TgbIdentity identity{
      .stream_id = stream_.id(), .producer = entry.producer, .incarnation = entry.incarnation, .seq = entry.seq};
  Trailers trailers;
  for (const Part& part : entry.parts) {
    std::string key = stream_.log().keys().Data(entry.producer, entry.incarnation, entry.seq, part.nonce);
    if (!BW_TRY(CheckObject(step, part, key)) || !options_.deep) continue;
    BW_TRY(ReadObject(step, {.identity = identity, .entry = entry, .part = part, .key = std::move(key)}, trailers));
  }
  if (!options_.deep) Advance(1);
  if (trailers.size() != entry.parts.size()) return {};
  if (const Hash128 digest = DigestOfParts(entry, trailers); digest != entry.digest) {
    Broken("I10", step, "",
           fmt::format("the entry's digest is not that of its slices: step={} expected={} found={}", step.value,
                       ToHex(entry.digest), ToHex(digest)));
  }
  return {};
}

// True where an object of the right size is there.
Result<bool> DataCheck::CheckObject(Step step, const Part& part, const std::string& key) {
  const auto listed = inventory_.data.find(key);
  const bool is_listed = listed != inventory_.data.end();
  // Not listed: uploaded since then, or missing.
  const Result<uint64_t> size_bytes = is_listed ? Result<uint64_t>(listed->second) : stream_.env().store.Stat(key);
  if (is_listed) inventory_.data.erase(listed);
  if (FailedWith(size_bytes, ErrorCode::kNotFound)) return ReportMissing(step, key);
  if (!size_bytes.ok()) return size_bytes.error();
  ++report_.data_objects;
  report_.data_bytes += *size_bytes;
  if (*size_bytes == part.object_bytes) return true;
  Broken("I4", step, key,
         fmt::format("an object is of the wrong size: step={} bytes={} expected={}", step.value, *size_bytes,
                     part.object_bytes));
  return false;
}

// Always false: there is nothing more to check of that object.
Result<bool> DataCheck::ReportMissing(Step step, const std::string& key) {
  const Error why = ExplainMissing(stream_, step, key);
  if (why.code == ErrorCode::kTrimmed) return false;
  if (why.code != ErrorCode::kCorrupt) return why;
  Broken("I4", step, key, fmt::format("an object is missing: step={}", step.value));
  return false;
}

Result<void> DataCheck::ReadObject(Step step, const PartToVerify& wanted, Trailers& trailers) {
  const uint64_t done_before = done_;
  const auto on_read = [&](uint64_t bytes) {
    report_.bytes_read += bytes;
    Advance(bytes);
  };
  Result<std::vector<uint64_t>> read = VerifyPart(stream_.env().store, wanted, buffer_, on_read);
  for (int reads = 1; reads < kReadsMax && FailedWith(read, ErrorCode::kCorrupt); ++reads) {
    done_ = done_before;
    read = VerifyPart(stream_.env().store, wanted, buffer_, on_read);
  }
  // What is left unread (the footer, and what follows damage) counts as done.
  done_ = done_before;
  Advance(wanted.part.object_bytes);
  if (read.ok()) {
    report_.slices_read += read->size();
    trailers.push_back(std::move(read).value());
    return {};
  }
  if (read.error().code == ErrorCode::kCorrupt) {
    Broken("I10", step, wanted.key, fmt::format("{}: step={}", read.error().message, step.value));
    return {};
  }
  if (read.error().code != ErrorCode::kNotFound) return read.error();
  BW_TRY(ReportMissing(step, wanted.key));
  return {};
}

void DataCheck::Advance(uint64_t by) {
  done_ += by;
  const std::string_view phase = options_.deep ? "data" : "entries";
  if (options_.on_progress) options_.on_progress({.phase = phase, .done = done_, .total = total_});
}

void DataCheck::Broken(std::string_view invariant, Step step, std::string key, std::string message) {
  report_.Add(
      {.invariant = std::string(invariant), .message = std::move(message), .key = std::move(key), .step = step});
}

}  // namespace batchweave
