// I1: a slot is won once, for ever. I4: what a version names was there before it.
#include <fmt/format.h>

#include "batchweave/lifecycle/tombstone.h"
#include "sim/checkers.h"

namespace batchweave::sim {
namespace {

class SlotChecker final : public Checker {
 public:
  explicit SlotChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnOverwrite(const std::string& key, const SharedBytes& before, const SharedBytes& after) override {
    if (!IsSlot(key)) return;
    if (*before == *after) return;
    const Result<Tombstone> tombstone = DecodeTombstone(*after);
    if (!tombstone.ok()) return evidence_.Report("I1", "a slot got other content: key=" + key, key);
    const Result<ManifestHead> head = DecodeManifestHead(*before);
    if (!head.ok()) return evidence_.Report("I1", "a tombstone was overwritten by another: key=" + key, key);
    const Tombstone expected{.version = head->manifest.version,
                             .commit_id = head->manifest.commit_id,
                             .hash = head->hash,
                             .previous_hash = head->manifest.previous_hash};
    if (*tombstone != expected) evidence_.Report("I1", "a tombstone does not say what it retires: key=" + key, key);
    if (evidence_.ledger.newest().version.value < expected.version.value + kLiveVersions) {
      evidence_.Report("I1", fmt::format("version {} was retired while {} is the newest", expected.version.value,
                                         evidence_.ledger.newest().version.value));
    }
  }

  void OnDelete(const std::string& key, const SharedBytes& /*before*/) override {
    if (IsSlot(key) && !evidence_.ledger.newest().deleted)
      evidence_.Report("I1", "a slot was opened again: key=" + key, key);
  }

 private:
  bool IsSlot(const std::string& key) const {
    if (!evidence_.ledger.keys()) return false;
    const std::optional<ParsedKey> parsed = ParseKey(*evidence_.ledger.keys(), key);
    return parsed && parsed->kind == ParsedKey::Kind::kManifest;
  }

  const Evidence& evidence_;
};

class DurableChecker final : public Checker {
 public:
  explicit DurableChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnVersion(const Manifest& before, const Manifest& after) override {
    const StreamKeys& keys = *evidence_.ledger.keys();
    ForEachNewEntry(before, after, [&](Step /*step*/, const Entry& entry) {
      for (const Part& part : entry.parts) {
        Require(keys.Data(entry.producer, entry.incarnation, entry.seq, part.nonce), part.object_bytes, after.version);
      }
    });
    for (const ArchiveRef& ref : after.archives) {
      if (ref.version == after.version) Require(keys.Archive(ref), ref.object_bytes, after.version);
    }
    const auto& rows = after.archived_rows;
    if (rows && rows->version == after.version) Require(keys.Archive(*rows), rows->object_bytes, after.version);
  }

 private:
  void Require(const std::string& key, uint64_t size_bytes, Version version) {
    const SharedBytes object = evidence_.server.Find(key);
    if (object != nullptr && object->size() == size_bytes) return;
    evidence_.Report("I4",
                     fmt::format("version {} names what is {}: key={}", version.value,
                                 object == nullptr ? "not there" : "of another size", key),
                     key);
  }

  const Evidence& evidence_;
};

}  // namespace

void AddLogCheckers(const Evidence& evidence, Checkers& checkers) {
  checkers.push_back(std::make_unique<SlotChecker>(evidence));
  checkers.push_back(std::make_unique<DurableChecker>(evidence));
}

void Evidence::Report(std::string invariant, std::string message, std::string about) const {
  violations.push_back({.invariant = std::move(invariant),
                        .message = std::move(message),
                        .about = std::move(about),
                        .when = scheduler.now()});
}

}  // namespace batchweave::sim
