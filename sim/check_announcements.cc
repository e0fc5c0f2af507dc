// I13: what is taken from an announcement is what its producer announced, and in time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "batchweave/format/intent.h"
#include "sim/checkers.h"

namespace batchweave::sim {
namespace {

// Versions after its base that an opening may be taken in: docs/protocol.md, Combining. One more where its own producer
// commits it, which judges by the version that it builds on.
constexpr uint64_t kOpeningTakenVersions = 1000 + 1;

class AnnouncementChecker final : public Checker {
 public:
  explicit AnnouncementChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnCreate(const std::string& key, const SharedBytes& bytes) override {
    if (!evidence_.ledger.keys()) return;
    const std::optional<ParsedKey> parsed = ParseKey(*evidence_.ledger.keys(), key);
    if (!parsed) return;
    if (parsed->kind == ParsedKey::Kind::kOpening) {
      const Result<OpeningIntent> opening = DecodeOpeningIntent(*bytes);
      if (opening.ok()) bases_[opening->nonce] = std::max(bases_[opening->nonce], opening->base);
    }
    if (parsed->kind != ParsedKey::Kind::kIntent) return;
    const Result<BatchIntent> intent = DecodeBatchIntent(*bytes);
    if (!intent.ok()) return;
    for (const Entry& entry : intent->entries) {
      const auto [known, is_new] = announced_.try_emplace({entry.producer, entry.incarnation, entry.seq}, entry);
      if (!is_new && !IsSame(known->second, entry)) Tell(entry, "was announced with another entry", key);
    }
  }

  void OnVersion(const Manifest& before, const Manifest& after) override {
    ForEachNewEntry(evidence_.ledger, before, after, [&](Step /*step*/, const Entry& entry) {
      const auto known = announced_.find({entry.producer, entry.incarnation, entry.seq});
      if (known != announced_.end() && !IsSame(known->second, entry)) {
        Tell(entry, "was announced with another entry than is committed", entry.producer);
      }
    });
    ForEachOpening(evidence_.ledger, before, after, [&](const ProducerRow& row) { OnOpening(row, after.version); });
  }

 private:
  static bool IsSame(const Entry& announced, Entry entry) {
    entry.committed_at_ns = announced.committed_at_ns;  // Of its commit, which an announcement cannot know.
    return announced == entry;
  }

  void OnOpening(const ProducerRow& row, Version version) {
    if (incarnations_[row.producer] == row.incarnation) return;
    const Incarnation before = std::exchange(incarnations_[row.producer], row.incarnation);
    const auto base = bases_.find(row.opening_nonce);
    if (base == bases_.end()) return;  // It was never announced.
    const bool is_outdated = before.value > base->second.value;
    if (!is_outdated && version.value <= base->second.value + kOpeningTakenVersions) return;
    evidence_.Report("I13",
                     fmt::format("version {} opens {} by an announcement on version {}, {}", version.value,
                                 row.producer, base->second.value,
                                 is_outdated ? fmt::format("after it was opened by version {}", before.value)
                                             : std::string("which is too long ago")),
                     row.producer);
  }

  void Tell(const Entry& entry, std::string_view what, const std::string& about) const {
    evidence_.Report(
        "I13",
        fmt::format("batch {} of {}, incarnation {}, {}", entry.seq, entry.producer, entry.incarnation.value, what),
        about);
  }

  const Evidence& evidence_;
  std::map<std::tuple<std::string, Incarnation, uint64_t>, Entry> announced_;
  std::map<uint64_t, Version> bases_;  // Of openings that were announced, by their nonces.
  std::map<std::string, Incarnation> incarnations_;
};

}  // namespace

void AddAnnouncementCheckers(const Evidence& evidence, Checkers& checkers) {
  checkers.push_back(std::make_unique<AnnouncementChecker>(evidence));
}

}  // namespace batchweave::sim
