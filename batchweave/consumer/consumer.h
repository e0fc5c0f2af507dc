// One rank's way through the stream: the slices of its mesh coordinate, step after step, each in one ranged GET, fetched
// ahead and verified. Opening one writes nothing, so credentials that may only read are enough.
//
// The whole state is {stream id, position}, alike on every rank. Next() may be called by one thread at a time; Close()
// and stats() from any. Threads start at the first Next(), never before, so that a process may fork after opening.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/consumer/mesh.h"
#include "batchweave/consumer/rank_batch.h"
#include "batchweave/log/history.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

struct ConsumerOptions {
  Step position{};  // The first step that Next() returns.
  MeshRank rank{};

  // The group that the rank reads for, and the number of its session, which the rank that opened it has told all others.
  // None: nothing is held for this reader, and no quarantine is kept.
  std::string group{};
  Session session{};
  std::vector<StepRange> skipped{};  // Steps that are passed over: Stream::OpenConsumer fills in the session's.

  bool allow_uneven = false;  // See SlicesOf.

  // Fetched ahead: at most so many steps and so many bytes, whichever is less; one batch larger than the bytes passes
  // alone. 0 steps: no threads, each Next() reads in its caller's.
  uint32_t prefetch_steps_max = 4;
  uint64_t prefetch_bytes_max = uint64_t{1} << 30;
  uint32_t prefetch_threads = 2;

  // A wait for one step longer than this is kStalled. The default is half of the usual 10 minutes of a collective's
  // time-out, so that a person can read why before that.
  Duration stall_after = std::chrono::minutes(5);

  // How often the log is asked for a successor while one is awaited: adapts within these to how often versions appear.
  Duration poll_interval_min = std::chrono::milliseconds(5);
  Duration poll_interval_max = std::chrono::seconds(2);
};

struct ConsumerStats {
  uint64_t steps = 0;            // Returned by Next().
  uint64_t delivered_bytes = 0;  // Slice bytes returned by Next().
  uint64_t payload_gets = 0;
  uint64_t payload_bytes = 0;    // Received by payload GETs, those again included.
  uint64_t manifest_reads = 0;   // Questions to the manifest log, polls that found nothing included.
  uint64_t retries = 0;          // Reads begun again after a short, altered or failed one.
  Duration waited_for_commit{};  // Next() waited for a step to be committed: the producers are behind.
  Duration waited_for_fetch{};   // Next() waited for a step's bytes: the store or the network is behind.
  uint64_t buffered_bytes = 0;   // Fetched ahead now.
  Step newest_known;             // next_step as last seen.
};

class Consumer {
 public:
  // Reads the newest manifest. A position beyond the newest step is awaited. The log and the parts of `env` must outlive the consumer.
  // Errors: kInvalidArgument (the rank or an option), kTrimmed (position below the stream's first step),
  // kMeshMismatch (already known from the step at the position), and those of ManifestLog::ReadNewest.
  // A caller that has just read the newest version may hand it over.
  static Result<Consumer> Open(Env env, ManifestLog& log, ConsumerOptions options,
                               std::optional<LoggedManifest> newest = std::nullopt);

  Consumer(Consumer&&) noexcept;
  Consumer& operator=(Consumer&&) noexcept;
  ~Consumer();  // Closes.

  // The batch at the position, which moves on by one; none at the end of a sealed stream. Waits for it to be committed.
  // Errors, all of which leave the position where it was:
  // kStalled (options.stall_after or `deadline` passed; the message says what is awaited, what is newest, how old it is
  // and who made it: call again to go on waiting), kTrimmed, kMeshMismatch, kCorrupt (which key and check),
  // kUnavailable, kDenied, kIncompatible, kNotFound (the stream was deleted, which is looked at before any other that may
  // come of it is told), kClosed.
  Result<std::optional<RankBatch>> Next(TimePoint deadline = kForever);

  // The step after the last one returned, and the stream's end once Next() gave none: the whole state, with the stream's
  // id. Where steps are skipped, the next one returned may be beyond it.
  Step position() const;

  // The chain hash of the manifest version by which the newest returned step was known: for audit.
  Hash128 chain_hash() const;

  ConsumerStats stats() const;

  // Wakes a waiting Next(), which answers kClosed, and ends the threads. Again: does nothing.
  void Close();

 private:
  class Impl;
  explicit Consumer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace batchweave
