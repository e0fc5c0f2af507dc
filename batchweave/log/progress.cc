#include "batchweave/log/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"

namespace batchweave {
namespace {

constexpr std::string_view kBegin = "step ";

}  // namespace

Bytes EncodeProgress(Step reached) { return ToBytes(fmt::format("{}{}\n", kBegin, reached.value)); }

Result<Step> DecodeProgress(ByteView object) {
  const std::string_view text = AsText(object);
  uint64_t step = 0;
  // The line's end tells a whole hint from one that was cut short.
  if (text.starts_with(kBegin) && text.ends_with('\n')) {
    const char* const last = text.data() + text.size() - 1;
    const auto [end, error] = std::from_chars(text.data() + kBegin.size(), last, step);
    if (error == std::errc() && end == last) return Step{step};
  }
  return Error{ErrorCode::kCorrupt, fmt::format("not a progress hint: bytes={}", object.size())};
}

std::optional<Step> Watermark(const Manifest& manifest) {
  if (manifest.groups.empty()) return std::nullopt;
  if (BW_MUTATION(kTrimToTheFastestGroup)) {
    return std::ranges::max_element(manifest.groups, {}, &GroupRow::smallest_held)->smallest_held;
  }
  return std::ranges::min_element(manifest.groups, {}, &GroupRow::smallest_held)->smallest_held;
}

std::optional<Step> TrustedProgress(const Manifest& manifest, std::optional<Step> hint) {
  const std::optional<Step> watermark = Watermark(manifest);
  if (!watermark || !hint || *hint < *watermark || *hint > manifest.next_step) return watermark;
  return hint;
}

std::optional<Step> ReadProgress(ManifestLog& log, const Manifest& manifest, std::string_view group) {
  const Result<Bytes> object = log.env().store.Read(log.keys().Progress(group));
  if (!object.ok()) return TrustedProgress(manifest, std::nullopt);
  const Result<Step> hint = DecodeProgress(*object);
  return TrustedProgress(manifest, hint.ok() ? std::optional(*hint) : std::nullopt);
}

std::optional<Step> ReadSlowestProgress(ManifestLog& log, const Manifest& manifest) {
  std::optional<Step> slowest;
  for (const GroupRow& group : manifest.groups) {
    const std::optional<Step> progress = ReadProgress(log, manifest, group.name);
    if (!slowest || *progress < *slowest) slowest = progress;
  }
  return slowest;
}

ProgressReporter::ProgressReporter(ManifestLog& log, std::string_view group)
    : log_(log), key_(log.keys().Progress(group)) {}

Result<void> ProgressReporter::Report(Step reached) {
  const TimePoint now = log_.env().clock.Now();
  const bool has_read_all = reached >= end_;
  const bool is_news = has_read_all && told_ != reached;
  // Later the same is told again: an older hint that was long under way may have landed on it.
  if (denied_ || (now < next_at_ && !is_news)) return {};
  if (BW_MUTATION(kHintNotToldAgain) && told_ == reached) return {};
  next_at_ = After(now, kProgressInterval);
  const Result<void> put = PutBytes(log_.env().store, key_, EncodeProgress(reached), PutMode::kOverwrite);
  if (FailedWith(put, ErrorCode::kDenied)) {
    denied_ = true;
    return WithContext(put.error(), "progress of this group is not told");
  }
  BW_FAULT_POINT("progress.told");
  told_ = reached;  // Or tried to: on a store that refuses, once an interval is enough.
  LookForEnd();
  return {};
}

// A failure leaves an earlier end, which costs a hint too many.
void ProgressReporter::LookForEnd() {
  const Result<Version> newest = log_.FindNewest();
  if (!newest.ok() || *newest == Version{}) return;
  const Result<ManifestHead> head = log_.ReadHead(*newest);
  if (head.ok()) end_ = std::max(end_, head->manifest.next_step);
}

}  // namespace batchweave
