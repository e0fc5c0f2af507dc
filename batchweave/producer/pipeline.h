// The queues of every producer that one process has open on one stream: what is to be uploaded, what is to be committed,
// and who waits for it. Passive: the loops of uploader.h and the users' calls move batches through it.
//
//   Enqueue -> [queued] -> TakeUpload ... FinishUpload -> [uploaded] -> CollectRuns ... Acknowledge
//   HandOutTicket ... EnqueueParts ----------------------^
//
// Safe for concurrent use; one mutex, never held across a call of the store. Waits go through the clock of `env`.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/part_message.h"
#include "batchweave/producer/commit_plan.h"
#include "batchweave/producer/open_producer.h"
#include "batchweave/producer/pack.h"
#include "batchweave/producer/producer.h"

namespace batchweave {

struct PendingBatch {
  enum class State { kQueued, kUploading, kUploaded };
  uint64_t seq = 0;
  State state = State::kQueued;
  TimePoint uploaded_at{};
  uint64_t size_bytes = 0;
  GlobalBatch batch{Grid{}};
  PublishOptions options;
  // Made at the first try and kept: a put that is repeated repeats these bytes under this key. Touched only by the
  // thread that uploads it. Of a batch in parts, which is uploaded when it comes: the entry alone.
  std::optional<PackedBatch> packed{};
};

// One open producer. Guarded by the pipeline's mutex but for the const members.
struct ProducerState {
  ProducerState(std::string name_in, OpenedProducer opened_in, ProducerOptions options_in);

  const std::string name;
  const OpenedProducer opened;
  const ProducerOptions options;
  uint64_t published_seq;
  uint64_t committed_seq;
  std::optional<Bytes> published_cursor;  // After the last published batch.
  // By seq, contiguous, from committed_seq + 1. Shared: an upload under way outlives the closing of its producer.
  std::deque<std::shared_ptr<PendingBatch>> pending;
  std::deque<PartTicket> tickets;  // Outstanding, by seq, contiguous, from published_seq + 1.
  uint64_t pending_bytes = 0;      // Of those not yet uploaded: their memory is still held.
  bool finish_wanted = false;
  bool finished = false;
  std::optional<Error> end;      // For good: fenced, sealed or closed.
  std::optional<Error> failure;  // Of the newest try, until the next call has been told.
  TimePoint retry_at{};          // Uploads are tried again then.
  Duration retry_delay{};
  TimePoint progress_at{};  // When something was last uploaded, committed, or put into an empty queue.
  ProducerStats stats;
};

// Shared by its handle, the pipeline, and uploads and commits under way.
using ProducerRef = std::shared_ptr<ProducerState>;

struct UploadJob {
  ProducerRef producer;
  std::shared_ptr<PendingBatch> batch;  // Shared: see ProducerState::pending.
};

// A snapshot of what is ready, with whose it is; the commit works on it without the mutex.
struct CollectedRuns {
  std::vector<CommitRun> runs;
  std::vector<ProducerRef> producers;  // One a run.
  TimePoint due_at = kForever;         // When the first of them should be committed, by max_staleness.
};

class Pipeline {
 public:
  explicit Pipeline(Env env);

  // For users' calls; contracts as in producer.h.
  void Add(ProducerRef producer);
  Result<uint64_t> Enqueue(ProducerState& producer, GlobalBatch&& batch, PublishOptions options);
  Result<PartTicket> HandOutTicket(ProducerState& producer, StreamId stream_id, Grid grid, BatchOptions options);
  Result<uint64_t> EnqueueParts(ProducerState& producer, std::span<const PartReceipt> receipts,
                                const PublishOptions& options);
  void DropTickets(ProducerState& producer);
  Result<void> AwaitCommitted(ProducerState& producer, TimePoint deadline);
  Result<void> AwaitFinished(ProducerState& producer, TimePoint deadline);
  // Sleeps until `deadline`; where the producer ends before, returns its end.
  Result<void> Pause(ProducerState& producer, TimePoint deadline);
  void Close(ProducerState& producer);
  ProducerStats StatsOf(const ProducerState& producer) const;
  uint64_t CommittedSeqOf(const ProducerState& producer) const;
  std::unordered_set<std::string> Names() const;  // Of the producers that are open here.

  // For upload loops: the next batch to upload, waiting for one; none once stopped.
  std::optional<UploadJob> TakeUpload();
  void FinishUpload(const UploadJob& job, const Result<void>& result);

  // For the commit loop. AwaitCommittable waits until something is ready to commit, or, where the committer serves others,
  // returns at once while a producer is open here; false once stopped. SleepUntil returns early when stopped, AwaitMore
  // also when more has become ready since ready() was `seen`. CollectRuns takes a snapshot, of at most kRunEntriesMax
  // entries a producer.
  bool AwaitCommittable(bool serves);
  bool stopped() const;
  void SleepUntil(TimePoint deadline);
  uint64_t ready() const;
  void AwaitMore(TimePoint deadline, uint64_t seen);
  CollectedRuns CollectRuns() const;
  void Acknowledge(const CollectedRuns& collected, std::span<const Verdict> verdicts);
  void ReportFailure(const Error& error);  // Of a commit: to every producer that has something to commit.
  void CountCommit(bool won);

  // Ends every wait; loops return.
  void Stop();

 private:
  using Lock = std::unique_lock<std::mutex>;
  static void CountCommitted(ProducerState& producer, Duration staleness);
  bool IsCommittable(const ProducerState& producer) const;
  void OnReady();
  void OnOutcome();
  Result<void> CheckOpen(ProducerState& producer);
  Result<void> CheckNoTickets(const ProducerState& producer) const;
  Result<void> CheckPublish(const ProducerState& producer, uint64_t size_bytes, const PublishOptions& options) const;
  Result<void> AwaitRoom(Lock& lock, ProducerState& producer, uint64_t size_bytes);
  uint64_t Append(ProducerState& producer, PendingBatch&& batch);
  template <typename Done>
  Result<void> Await(Lock& lock, Condition& condition, ProducerState& producer, TimePoint deadline, Done done);
  Error Stalled(const ProducerState& producer) const;
  void End(ProducerState& producer, Error error);
  void Progress(ProducerState& producer);

  const Env env_;
  mutable std::mutex mutex_;
  // Four, so that who has nothing to do is not woken: each waking costs what runs beside it a turn of the mutex.
  Condition uploads_;      // Upload loops: there may be a batch to take.
  Condition commits_due_;  // The commit loop: there may be something to commit.
  Condition room_;         // Who publishes: room was made, or something failed.
  Condition outcomes_;     // Users' other calls: batches were committed, or something failed.
  bool stopped_ = false;
  uint64_t ready_ = 0;  // Rises whenever something becomes ready to commit.
  std::vector<ProducerRef> producers_;
  size_t turn_ = 0;                  // Whose upload is taken next: fair among producers.
  std::optional<Error> last_error_;  // Of the newest upload or commit, where it failed.
  uint64_t commits_ = 0;
  uint64_t commits_lost_ = 0;
};

// Batches of one producer in the queue, whatever their size: bounds the memory of tiny ones.
inline constexpr size_t kPendingBatchesMax = 4096;

// Entries that one version takes from one producer at most: what is beyond waits for the next one.
inline constexpr size_t kRunEntriesMax = 256;

}  // namespace batchweave
