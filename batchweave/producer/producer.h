// A source of global batches with a name. Opening it fences every earlier holder of the name and tells where the source
// is to go on; from there each published batch appears exactly once, in order, with its cursor.
//
// Publish() and Flush() may be called from several threads; batches are ordered as Publish() takes them, which seq tells.
// Threads start at the first Publish(), never before, so that a process may fork after opening.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "batchweave/base/result.h"
#include "batchweave/format/part_message.h"
#include "batchweave/format/types.h"
#include "batchweave/producer/global_batch.h"
#include "batchweave/store/env.h"

namespace batchweave {

struct ProducerOptions {
  bool reopen = false;  // Go on with a producer that has finished.
  // The name is used once, as for a task: some time after Finish() the stream knows it no more, and whoever opens it then
  // is a new producer. Else it is remembered for ever, so that a restarted job does not publish everything again.
  bool forget = false;
  // Batches queued and in flight, together; one batch larger than this passes alone. Publish() waits for room.
  uint64_t pending_bytes_max = uint64_t{1} << 30;
  uint32_t upload_threads = 2;  // From 1 to 64.
  // Publish() waits while the stream is this far ahead of its slowest group, in steps or in bytes of data objects; 0: no
  // limit. Followed closely, not to the batch: what is published and not committed yet is not counted.
  uint64_t max_lead_steps = 0;
  uint64_t max_lead_bytes = 0;
  // A batch is to be committed this long after it was uploaded; 0: as soon as may be, as far as producers can do without a
  // word to each other. Nothing is ever held back for it: a short one buys attempts, for requests, and stats().late counts
  // where the store, or the number of those who want the same, did not allow it.
  Duration max_staleness{};
  // Publish() and Flush() give up after this long without any progress.
  Duration stall_after = std::chrono::minutes(5);
};

struct PublishOptions {
  Bytes cursor{};  // Where the source stands after this batch; opaque, at most kCursorBytesMax.
  // Where it stood before: then it must equal the cursor after the batch before (fault C2).
  std::optional<Bytes> cursor_before{};
  uint64_t samples = 0;
  Bytes metadata{};  // The user's own, at most kMetadataBytesMax.
  // Which samples came from where, in a form of the user's own; at most kProvenanceBytesMax. Lies in the batch's object,
  // and is read only when asked for. Of a batch in parts, each part has its own: see Stream::WritePart.
  Bytes provenance{};
};

struct ProducerStats {
  uint64_t published = 0;  // Accepted by Publish().
  uint64_t committed = 0;
  uint64_t published_bytes = 0;
  uint64_t pending_bytes = 0;  // Now.
  uint64_t late = 0;           // Of those committed: longer after their upload than max_staleness.
  Duration staleness_max{};    // The longest from the upload of a batch until this process knew it committed.
  uint64_t commits = 0;        // Versions that this process's committer won, for all its producers.
  uint64_t commits_lost = 0;   // Its attempts that another committer won.
  uint64_t retries = 0;        // Uploads begun again.
  Duration waited_for_room{};  // Publish() waited for memory: upload or commit is behind.
};

class Producer {
 public:
  Producer(Producer&&) noexcept;
  Producer& operator=(Producer&&) noexcept;
  ~Producer();  // Closes.

  const std::string& name() const;
  Incarnation incarnation() const;
  // The committed cursor at opening; none where nothing was ever committed. The source goes on there.
  const std::optional<Bytes>& cursor() const;
  // Batches committed so far, over all incarnations: the seq of the last.
  uint64_t committed_seq() const;

  // Queues `batch` and returns its seq; waits while more than pending_bytes_max is pending. On error the batch is left
  // with the caller.
  // Errors: kInvalidArgument (the batch or a limit; cursors that do not join: both are named; tickets are outstanding),
  // kFenced (a newer holder has the name: stop), kSealed, kClosed, kStalled (no progress; the message says what is
  // awaited), or what stopped the upload or the commit of an earlier batch (kDenied, kCorrupt, kIncompatible): that one
  // stays queued and is tried again, so mend the cause and call again. With a limit on the lead, also those of the log.
  // kNotFound: the stream was deleted, whatever failed of it.
  Result<uint64_t> Publish(GlobalBatch&& batch, PublishOptions options);

  // A batch in parts, each written by another worker (Stream::WritePart). The ticket is for the next batch; several may
  // be outstanding, for batches that follow each other. Meanwhile Publish() and Finish() are refused. No I/O.
  // Errors: kInvalidArgument (the grid or a limit; too many tickets), else as Publish.
  Result<PartTicket> NextTicket(Grid grid, BatchOptions options = {});

  // Queues the batch of the oldest ticket that is outstanding, whose parts are `receipts`, and returns its seq. It
  // becomes visible as a whole, by one commit. On error the ticket stays outstanding.
  // Errors: kInvalidArgument (a receipt of anything but that ticket; parts that are doubled, overlap or leave a slice
  // out; provenance, which belongs to the parts; cursors or limits as for Publish: each names what came and what was
  // expected), else as Publish.
  Result<uint64_t> PublishParts(std::span<const PartReceipt> receipts, const PublishOptions& options);

  // Gives up all outstanding tickets: their batches get new ones, and receipts of the old are refused.
  void DropTickets();

  // Waits until everything published is committed. Errors: as Publish.
  Result<void> Flush(TimePoint deadline = kForever);

  // Flush, and marks the producer finished in the same version as the last batch: opening it again answers so.
  // Errors: as Publish.
  Result<void> Finish(TimePoint deadline = kForever);

  ProducerStats stats() const;

  // Stops. What is pending is dropped (it was never acknowledged); waiting calls answer kClosed. Again: does nothing.
  void Close();

 private:
  friend class ProducerHost;
  class Impl;
  explicit Producer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace batchweave
