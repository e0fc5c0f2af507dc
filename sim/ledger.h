// The stream as its versions have told it: every step that was ever committed, which no version has whole any more.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "batchweave/format/keys.h"
#include "batchweave/log/history.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/testing/test_env.h"
#include "sim/checker.h"

namespace batchweave::sim {

struct LedgerStep {
  Entry entry;
  Version version{};  // That committed it.
};

// Decodes each version as it is created, and tells the checkers. What cannot be decoded or does not follow is a breach.
class Ledger final : public ServerObserver {
 public:
  Ledger(const Server& server, const Scheduler& scheduler, std::vector<Violation>& violations)
      : store_(server), scheduler_(scheduler), violations_(violations) {}

  void Tell(Checker& checker) { checkers_.push_back(&checker); }

  void OnCreate(const std::string& key, const SharedBytes& bytes) override;
  void OnOverwrite(const std::string& /*key*/, const SharedBytes& /*before*/, const SharedBytes& /*after*/) override {}
  void OnDelete(const std::string& /*key*/, const SharedBytes& /*before*/) override {}

  // None before the stream is created.
  const std::optional<StreamKeys>& keys() const { return keys_; }
  const Manifest& newest() const { return newest_; }
  const std::vector<LedgerStep>& steps() const { return steps_; }  // By step, from 0.
  // The step whose data lies under `key`.
  std::optional<Step> StepOfData(const std::string& key) const;
  // All rows of the newest version, wherever it keeps them, by name. An error tells of a table that cannot be read.
  Result<std::vector<ProducerRow>> Rows() const { return ReadRows(*log_, newest_); }
  std::optional<ProducerRow> RowOf(std::string_view producer) const;
  // The log as it truly is, for reading archived history.
  ManifestLog& log() const { return *log_; }

 private:
  void OnStreamJson(const std::string& key, const SharedBytes& bytes);
  void OnManifest(Version version, const SharedBytes& bytes);
  void CheckSuccession(const Manifest& after);
  void CompareHistory(const Manifest& after);
  void AppendSteps(const Manifest& after);
  void Report(std::string invariant, std::string message);

  DirectStore store_;
  TestEnv env_;
  std::unique_ptr<ManifestLog> log_;
  const Scheduler& scheduler_;
  std::vector<Violation>& violations_;
  std::vector<Checker*> checkers_;
  std::optional<StreamKeys> keys_;
  Manifest newest_;
  Hash128 hash_{};
  std::vector<LedgerStep> steps_;
  std::unordered_map<std::string, Step> step_of_data_;
};

}  // namespace batchweave::sim
