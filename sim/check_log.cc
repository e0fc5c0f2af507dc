// I1: a slot is won once, for ever. I2: what a version carries over. I4: what a version names was there before it.
#include <fmt/format.h>

#include <algorithm>

#include "batchweave/lifecycle/tombstone.h"
#include "sim/checkers.h"

namespace batchweave::sim {
namespace {

class SlotChecker final : public Checker {
 public:
  explicit SlotChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnOverwrite(const std::string& key, const SharedBytes& before, const SharedBytes& after) override {
    if (*before == *after) return;
    if (!IsSlot(key)) return CheckMayChange(key);
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
  std::optional<ParsedKey> Parsed(const std::string& key) const {
    return evidence_.ledger.keys() ? ParseKey(*evidence_.ledger.keys(), key) : std::nullopt;
  }
  bool IsSlot(const std::string& key) const {
    const std::optional<ParsedKey> parsed = Parsed(key);
    return parsed && parsed->kind == ParsedKey::Kind::kManifest;
  }

  // Of all that has a name of its own nothing is ever written again with other bytes.
  void CheckMayChange(const std::string& key) const {
    const std::optional<ParsedKey> parsed = Parsed(key);
    if (!parsed || parsed->kind == ParsedKey::Kind::kProgress) return;
    evidence_.Report("I10", "other bytes were written under a key that was there: key=" + key, key);
  }

  const Evidence& evidence_;
};

// What no change of the protocol takes away again.
class SuccessionChecker final : public Checker {
 public:
  explicit SuccessionChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnVersion(const Manifest& before, const Manifest& after) override {
    const auto require = [&](bool holds, std::string_view what) {
      if (!holds) evidence_.Report("I2", fmt::format("version {} {}", after.version.value, what));
    };
    require((before.reader_features & ~after.reader_features) == 0, "has lost a reader feature");
    require((before.writer_features & ~after.writer_features) == 0, "has lost a writer feature");
    for (const Quarantine& quarantine : before.quarantines) {
      require(quarantine.end <= after.first_step || IsCarriedOver(quarantine, after),
              fmt::format("has lost the quarantine of steps {} to {}", quarantine.first.value, quarantine.end.value));
    }
    for (const Quarantine& quarantine : after.quarantines) {
      require(
          quarantine.set_at <= before.version ? IsIn(quarantine.set_at, before) : quarantine.set_at == after.version,
          "has a quarantine that nobody set");
    }
  }

 private:
  static bool IsIn(Version set_at, const Manifest& manifest) {
    return std::ranges::find(manifest.quarantines, set_at, &Quarantine::set_at) != manifest.quarantines.end();
  }

  // As it was, or lifted just now.
  static bool IsCarriedOver(const Quarantine& quarantine, const Manifest& after) {
    return std::ranges::any_of(after.quarantines, [&](Quarantine now) {
      if (quarantine.lifted_at == Version{} && now.lifted_at == after.version) now.lifted_at = {};
      return now == quarantine;
    });
  }

  const Evidence& evidence_;
};

class DurableChecker final : public Checker {
 public:
  explicit DurableChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnVersion(const Manifest& before, const Manifest& after) override {
    const StreamKeys& keys = *evidence_.ledger.keys();
    ForEachNewEntry(evidence_.ledger, before, after, [&](Step /*step*/, const Entry& entry) {
      for (const Part& part : entry.parts) {
        Require(keys.Data(entry.producer, entry.incarnation, entry.seq, part.nonce), part.object_bytes, after.version);
      }
    });
    for (const ArchiveRef& ref : after.archives) {
      const bool is_new = std::ranges::find(before.archives, ref) == before.archives.end();
      if (is_new) Require(keys.Archive(ref), ref.object_bytes, after.version);
    }
    const auto& rows = after.archived_rows;
    if (rows && rows != before.archived_rows) Require(keys.Archive(*rows), rows->object_bytes, after.version);
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
  checkers.push_back(std::make_unique<SuccessionChecker>(evidence));
  checkers.push_back(std::make_unique<DurableChecker>(evidence));
}

void Evidence::Report(std::string invariant, std::string message, std::string about) const {
  violations.push_back({.invariant = std::move(invariant),
                        .message = std::move(message),
                        .about = std::move(about),
                        .when = scheduler.now()});
}

}  // namespace batchweave::sim
