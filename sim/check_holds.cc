// I8: nothing that a group holds goes. I9: at rest, what is stored is what is reached.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "batchweave/format/archive.h"
#include "batchweave/lifecycle/group.h"
#include "batchweave/lifecycle/tombstone.h"
#include "sim/checkers.h"
#include "sim/plan.h"

namespace batchweave::sim {
namespace {

void AddArchives(const Evidence& evidence, const std::vector<ArchiveRef>& refs, std::set<std::string>& keys) {
  for (const ArchiveRef& ref : refs) {
    if (ref.end <= evidence.ledger.newest().first_step) continue;
    const std::string key = evidence.ledger.keys()->Archive(ref);
    keys.insert(key);
    if (ref.kind != ArchiveRef::Kind::kIndex) continue;
    const SharedBytes object = evidence.server.Find(key);
    if (object == nullptr) continue;
    const Result<ArchiveIndex> index = DecodeArchiveIndex(*object);
    if (index.ok()) AddArchives(evidence, index->children, keys);
  }
}

// The archived objects that the newest version reaches, by the objects themselves.
std::set<std::string> ArchivesInUse(const Evidence& evidence) {
  const Manifest& newest = evidence.ledger.newest();
  std::set<std::string> keys;
  AddArchives(evidence, newest.archives, keys);
  if (newest.archived_rows) keys.insert(evidence.ledger.keys()->Archive(*newest.archived_rows));
  return keys;
}

class HoldChecker final : public Checker {
 public:
  explicit HoldChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnVersion(const Manifest& before, const Manifest& after) override {
    if (after.first_step > before.first_step) CheckTrim(after);
    CheckGroups(before, after);
    for (const Checkpoint& checkpoint : after.checkpoints) {
      const GroupRow* group = FindGroup(after, checkpoint.group);
      if (group == nullptr) continue;
      registered_.try_emplace({checkpoint.group, checkpoint.name},
                              Registered{.position = checkpoint.position, .session = group->session});
    }
  }

  // Told once it is registered: some version must have it, under the trainer's own session.
  void OnCheckpoint(const CheckpointReport& told) override {
    const auto found = registered_.find({told.group, told.name});
    if (found == registered_.end() || found->second.position != told.position) {
      evidence_.Report("I8", fmt::format("no version has the checkpoint {} of {} at step {}", told.name, told.group,
                                         told.position.value));
    } else if (found->second.session != told.session) {
      evidence_.Report("I8", fmt::format("the checkpoint {} of session {} of {} was registered in session {}",
                                         told.name, told.session.value, told.group, found->second.session.value));
    }
  }

  void OnDelete(const std::string& key, const SharedBytes& /*object*/) override {
    const Manifest& newest = evidence_.ledger.newest();
    if (newest.deleted || !evidence_.ledger.keys()) return;
    if (const std::optional<Step> step = evidence_.ledger.StepOfData(key)) {
      if (*step >= newest.first_step) {
        evidence_.Report("I8", fmt::format("the data of step {} was deleted: key={}", step->value, key), key);
      }
      return;
    }
    const std::optional<ParsedKey> parsed = ParseKey(*evidence_.ledger.keys(), key);
    if (!parsed || parsed->kind != ParsedKey::Kind::kArchive) return;
    // Below an index that is gone nothing is found: that was told when the index went.
    if (ArchivesInUse(evidence_).contains(key)) {
      evidence_.Report("I8", "an archived object in use was deleted: key=" + key, key);
    }
  }

 private:
  // What each group holds, counted from its row and its checkpoints, not from the sum that the row carries.
  static std::map<std::string, Step> Holds(const Manifest& manifest) {
    std::map<std::string, Step> holds;
    for (const GroupRow& group : manifest.groups) {
      Step held = group.start_held ? group.start : kNothingHeld;
      for (const Checkpoint& checkpoint : manifest.checkpoints) {
        if (checkpoint.group == group.name) held = std::min(held, checkpoint.position);
      }
      holds[group.name] = held;
    }
    return holds;
  }

  void CheckTrim(const Manifest& after) {
    const auto holds = Holds(after);
    if (holds.empty()) {
      evidence_.Report("I8", fmt::format("version {} trims, and there is no group", after.version.value));
    }
    for (const auto& [group, held] : holds) {
      if (held >= after.first_step) continue;
      evidence_.Report("I8", fmt::format("version {} trims to {}, and {} holds {}", after.version.value,
                                         after.first_step.value, group, held.value));
    }
  }

  // A checkpoint goes by keep_last, by a release or with its group; never several unpinned newer ones before older ones.
  void CheckGroups(const Manifest& before, const Manifest& after) {
    for (const GroupRow& group : before.groups) {
      const auto now = std::ranges::find(after.groups, group.name, &GroupRow::name);
      if (now == after.groups.end()) {
        if (!group.name.starts_with(kVisitorPrefix)) {
          evidence_.Report("I8", fmt::format("version {} drops {}, and nobody did", after.version.value, group.name));
        }
        continue;
      }
      const bool is_new_session = now->session != group.session;
      if (is_new_session && now->session.value != after.version.value) {
        evidence_.Report("I8", fmt::format("version {} gives {} a session that is not its own number",
                                           after.version.value, group.name));
      }
      const bool let_go = group.start_held && !now->start_held && !is_new_session;
      if (let_go && !HasCheckpoint(after, group.name)) {
        evidence_.Report("I8", fmt::format("version {} lets go of the start of {}, which has no checkpoint",
                                           after.version.value, group.name));
      }
      CheckOrder(before, after, group.name);
      CheckKept(before, after, group.name, is_new_session);
    }
  }

  // Of those that stayed and those that went, unpinned: at most one that went (a release, or the one that moved) may be
  // newer than one that stayed.
  void CheckOrder(const Manifest& before, const Manifest& after, const std::string& group) {
    std::vector<const Checkpoint*> gone;
    uint64_t oldest_kept = UINT64_MAX;
    for (const Checkpoint& checkpoint : before.checkpoints) {
      if (checkpoint.group != group || checkpoint.pinned) continue;
      const bool stayed =
          std::ranges::find(after.checkpoints, checkpoint.order, &Checkpoint::order) != after.checkpoints.end();
      if (stayed) {
        oldest_kept = std::min(oldest_kept, checkpoint.order);
      } else {
        gone.push_back(&checkpoint);
      }
    }
    const auto wrong = std::ranges::count_if(gone, [&](const Checkpoint* it) { return it->order > oldest_kept; });
    if (wrong > 1) {
      evidence_.Report(
          "I8", fmt::format("version {} drops newer checkpoints of {} before older ones", after.version.value, group));
    }
  }

  // A new checkpoint lets go of unpinned ones beyond keep_last; without a new one, one may be released, whichever it is,
  // unless the version opens a session: that lets go of none.
  void CheckKept(const Manifest& before, const Manifest& after, const std::string& group, bool is_new_session) {
    const bool registers =
        !after.checkpoints.empty() && after.checkpoints.back().group == group &&
        (before.checkpoints.empty() || after.checkpoints.back().order > before.checkpoints.back().order);
    size_t may_go = registers || is_new_session ? 0 : 1;
    if (registers) {
      const auto unpinned = [&](const Checkpoint& it) { return it.group == group && !it.pinned; };
      const auto counted = static_cast<size_t>(std::ranges::count_if(before.checkpoints, unpinned)) +
                           (after.checkpoints.back().pinned ? 0 : 1);
      may_go = counted - std::min(counted, kKeepLast);
    }
    for (const Checkpoint& checkpoint : before.checkpoints) {
      if (checkpoint.group != group) continue;
      const bool stayed = std::ranges::any_of(
          after.checkpoints, [&](const Checkpoint& now) { return now.group == group && now.name == checkpoint.name; });
      if (stayed) continue;
      if (may_go > 0 && !(registers && checkpoint.pinned)) {
        may_go -= 1;
        continue;
      }
      evidence_.Report("I8", fmt::format("version {} drops the {}checkpoint {} of {}", after.version.value,
                                         checkpoint.pinned ? "pinned " : "", checkpoint.name, group));
    }
  }

  static bool HasCheckpoint(const Manifest& manifest, const std::string& group) {
    return std::ranges::find(manifest.checkpoints, group, &Checkpoint::group) != manifest.checkpoints.end();
  }

  struct Registered {
    Step position{};
    Session session{};
  };

  const Evidence& evidence_;
  std::map<std::pair<std::string, std::string>, Registered>
      registered_;  // By group and name; names are never used twice.
};

class LeakChecker final : public Checker {
 public:
  explicit LeakChecker(const Evidence& evidence) : evidence_(evidence) {}

  void AtRest() override {
    const StreamKeys& keys = *evidence_.ledger.keys();
    const Manifest& newest = evidence_.ledger.newest();
    std::set<std::string> expected = Expected();
    const std::string one_probe = ProbePrefix(keys.name, 0);
    const std::string probes = one_probe.substr(0, one_probe.rfind('/', one_probe.size() - 2) + 1);
    evidence_.server.ForEach([&](const std::string& key, const SharedBytes& bytes) {
      if (expected.erase(key) > 0) return;
      const std::optional<ParsedKey> parsed = ParseKey(keys, key);
      // A probe that was killed leaves its object: docs/protocol.md, I9.
      if (key.starts_with(probes)) return;
      if (parsed && MayStay(*parsed, *bytes, newest)) return;
      evidence_.Report("I9", fmt::format("{} bytes are stored that nothing reaches: key={}", bytes->size(), key), key);
    });
    for (const std::string& key : expected) evidence_.Report("I8", "what is reached is not stored: key=" + key, key);
  }

 private:
  // What the newest version does not reach, and yet is no leak.
  static bool MayStay(const ParsedKey& key, const Bytes& bytes, const Manifest& newest) {
    if (newest.deleted) return false;
    switch (key.kind) {
      case ParsedKey::Kind::kManifest:
        return key.version.value + kLiveVersions > newest.version.value || DecodeTombstone(bytes).ok();
      case ParsedKey::Kind::kProgress: return FindGroup(newest, key.name) != nullptr;
      default: return key.kind == ParsedKey::Kind::kPlaceholder;
    }
  }

  // By the ledger, not by the library's own walk.
  std::set<std::string> Expected() const {
    const StreamKeys& keys = *evidence_.ledger.keys();
    const Manifest& newest = evidence_.ledger.newest();
    std::set<std::string> expected{StreamJsonKey(keys.name)};
    if (newest.deleted) return expected;
    for (Step step = newest.first_step; step < newest.next_step; step = step + 1) {
      const Entry& entry = evidence_.ledger.steps()[step.value].entry;
      for (const Part& part : entry.parts) {
        expected.insert(keys.Data(entry.producer, entry.incarnation, entry.seq, part.nonce));
      }
    }
    expected.merge(ArchivesInUse(evidence_));
    return expected;
  }

  const Evidence& evidence_;
};

}  // namespace

void AddHoldCheckers(const Evidence& evidence, Checkers& checkers) {
  checkers.push_back(std::make_unique<HoldChecker>(evidence));
  checkers.push_back(std::make_unique<LeakChecker>(evidence));
}

}  // namespace batchweave::sim
