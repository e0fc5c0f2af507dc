#include "sim/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/format/stream_info.h"

namespace batchweave::sim {
namespace {

bool CoversAll(const Manifest& manifest) {
  Step covered = manifest.archives.empty() ? manifest.tail_first() : manifest.archives.front().first;
  if (covered > manifest.first_step) return false;
  for (const ArchiveRef& ref : manifest.archives) {
    if (ref.first != covered) return false;
    covered = ref.end;
  }
  return covered == manifest.tail_first();
}

}  // namespace

void Ledger::OnCreate(const std::string& key, const SharedBytes& bytes) {
  if (key.ends_with("/stream.json")) return OnStreamJson(key, bytes);
  if (!keys_) return;
  const std::optional<ParsedKey> parsed = ParseKey(*keys_, key);
  if (parsed && parsed->kind == ParsedKey::Kind::kManifest) OnManifest(parsed->version, bytes);
}

void Ledger::OnStreamJson(const std::string& key, const SharedBytes& bytes) {
  const Result<StreamInfo> info = DecodeStreamInfo(*bytes);
  if (!info.ok() || keys_) return Report("I1", "a second stream.json, or one that cannot be read: key=" + key);
  keys_ = StreamKeys{.name = key.substr(0, key.find('/')), .stream_id = info->stream_id};
  hash_ = HashOf128(*bytes);
  newest_ = EmptyManifest(info->stream_id, hash_);
  log_ = std::make_unique<ManifestLog>(env_.Over(store_), *keys_, hash_);
}

void Ledger::OnManifest(Version version, const SharedBytes& bytes) {
  if (newest_.deleted) return;  // A late put to a stream that is no more: nobody reads it.
  Result<Manifest> decoded = DecodeManifest(*bytes);
  const Result<Hash128> hash = ManifestHash(*bytes);
  if (!decoded.ok() || !hash.ok()) {
    return Report("I2", fmt::format("version {} cannot be read: {}", version.value,
                                    decoded.ok() ? ToString(hash.error()) : ToString(decoded.error())));
  }
  Manifest after = std::move(decoded).value();
  CheckSuccession(after);
  CompareHistory(after);
  AppendSteps(after);
  const Manifest before = std::exchange(newest_, std::move(after));
  hash_ = *hash;
  for (Checker* checker : checkers_) checker->OnVersion(before, newest_);
}

void Ledger::CheckSuccession(const Manifest& after) {
  const auto require = [&](bool holds, std::string_view invariant, std::string_view what) {
    if (!holds) Report(std::string(invariant), fmt::format("version {}: {}", after.version.value, what));
  };
  require(after.stream_id == newest_.stream_id, "I2", "of another stream");
  require(after.version == Next(newest_.version), "I1", fmt::format("created after {}", newest_.version.value));
  require(after.previous_hash == hash_, "I2", "its chain does not join");
  require(after.first_step >= newest_.first_step, "I2", "first_step went down");
  require(after.first_step <= after.next_step, "I3", "first_step is beyond next_step");
  require(after.next_step >= newest_.next_step, "I2", "next_step went down");
  require(CoversAll(after), "I3", "archives and tail do not have every step from first_step on");
  const bool grew = after.next_step > newest_.next_step;
  require(!(newest_.sealed && grew), "I2", "steps after the seal");
  require(after.sealed || !newest_.sealed, "I2", "the seal is gone");
}

void Ledger::CompareHistory(const Manifest& after) {
  const auto compare = [&](Step step, const Entry& entry) -> Result<void> {
    if (step < newest_.next_step && steps_[step.value].entry != entry) {
      Report("I2", fmt::format("version {} changes step {}", after.version.value, step.value));
    }
    return {};
  };
  for (size_t i = 0; i < after.tail.size(); ++i) {
    if (!compare(after.tail_first() + i, after.tail[i]).ok()) return;
  }
  // What this version names anew must say what was there before.
  for (const ArchiveRef& ref : after.archives) {
    if (std::ranges::find(newest_.archives, ref) != newest_.archives.end()) continue;
    Step next = std::max(ref.first, after.first_step);
    const Result<void> read =
        ForEachEntry(*log_, after, {.first = next, .end = ref.end}, [&](Step step, const Entry& entry) {
          if (step != next) Report("I3", fmt::format("step {} is not in the archive", next.value));
          next = step + 1;
          return compare(step, entry);
        });
    if (!read.ok())
      Report("I4", fmt::format("an archived object of version {}: {}", after.version.value, ToString(read.error())));
    if (next < ref.end) Report("I3", fmt::format("step {} is not in the archive", next.value));
  }
}

void Ledger::AppendSteps(const Manifest& after) {
  // A version may archive some of what it brings.
  const Result<void> read = ForEachEntry(
      *log_, after, {.first = newest_.next_step, .end = after.next_step}, [&](Step step, const Entry& entry) {
        // What is missing before it was told as a breach already.
        steps_.resize(step.value);
        steps_.push_back({.entry = entry, .version = after.version});
        for (const Part& part : entry.parts) {
          const auto [known, is_new] =
              step_of_data_.try_emplace(keys_->Data(entry.producer, entry.incarnation, entry.seq, part.nonce), step);
          if (!is_new) Report("I5", fmt::format("steps {} and {} share their data", known->second.value, step.value));
        }
        return Result<void>{};
      });
  if (!read.ok()) Report("I4", fmt::format("new steps of version {}: {}", after.version.value, ToString(read.error())));
  steps_.resize(after.next_step.value);
}

std::optional<Step> Ledger::StepOfData(const std::string& key) const {
  const auto found = step_of_data_.find(key);
  return found == step_of_data_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ProducerRow> Ledger::RowOf(std::string_view producer) const {
  const Result<std::vector<ProducerRow>> rows = Rows();
  if (!rows.ok()) return std::nullopt;
  const auto row = std::ranges::lower_bound(*rows, producer, {}, &ProducerRow::producer);
  return row != rows->end() && row->producer == producer ? std::optional(*row) : std::nullopt;
}

void Ledger::Report(std::string invariant, std::string message) {
  violations_.push_back({.invariant = std::move(invariant),
                         .message = std::move(message),
                         .about = "manifest/",
                         .when = scheduler_.now()});
}

}  // namespace batchweave::sim
