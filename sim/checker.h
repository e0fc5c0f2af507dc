// What watches a simulation and says where an invariant of docs/protocol.md does not hold. A checker knows the truth that
// no process knows: the store as it is, and all that was reported, in order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/consumer/mesh.h"
#include "batchweave/consumer/rank_batch.h"
#include "batchweave/format/manifest.h"
#include "sim/server.h"

namespace batchweave::sim {

// Groups whose names begin so come and go; nobody drops any other.
inline constexpr std::string_view kVisitorPrefix = "visitor";

struct Violation {
  std::string invariant;  // "I5".
  std::string message;
  std::string about;  // A word by which the lines of the trace that matter can be found; may be empty.
  SimTime when{};
};

// A producer was told that its batches up to `seq` are committed.
struct Acknowledgement {
  std::string producer;
  Incarnation incarnation{};
  uint64_t seq = 0;
  uint64_t number = 0;  // Of the batch of that seq, in its source.
};

// A producer was opened.
struct OpeningReport {
  std::string producer;
  Incarnation incarnation{};
};

// A trainer was told that its checkpoint is registered.
struct CheckpointReport {
  std::string group;
  Session session{};
  std::string name;
  Step position{};
};

// A rank was given a batch; or, without one, was told that the stream has ended at `position`.
struct Delivery {
  std::string group;
  Session session{};
  std::string rank;  // A name for messages; each opening of a consumer has its own.
  MeshRank mesh{};
  const RankBatch* batch = nullptr;
};

// A call of the library by an actor came back, or is under way yet.
struct TimedCall {
  std::string who;
  std::string_view what;
  Duration took{};   // By the caller's own clock.
  Duration limit{};  // What it promises, by docs or by the caller's options.
};

class Checker : public ServerObserver {
 public:
  void OnCreate(const std::string& /*key*/, const SharedBytes& /*bytes*/) override {}
  void OnOverwrite(const std::string& /*key*/, const SharedBytes& /*before*/, const SharedBytes& /*after*/) override {}
  void OnDelete(const std::string& /*key*/, const SharedBytes& /*before*/) override {}
  // A version was committed on `before`; both are whole.
  virtual void OnVersion(const Manifest& /*before*/, const Manifest& /*after*/) {}
  virtual void OnAcknowledged(const Acknowledgement& /*acknowledgement*/) {}
  virtual void OnOpened(const OpeningReport& /*opening*/) {}
  virtual void OnCheckpoint(const CheckpointReport& /*checkpoint*/) {}
  virtual void OnDelivery(const Delivery& /*delivery*/) {}
  virtual void OnCall(const TimedCall& /*call*/) {}
  // Nothing is under way any more, every source has ended, and a reclaim has run undisturbed.
  virtual void AtRest() {}
};

}  // namespace batchweave::sim
