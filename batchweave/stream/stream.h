// A stream of global batches in an object store: the handle by which users open everything else.
//
// Safe for concurrent use. Must outlive what was opened on it; does no I/O of its own between calls, and holds no
// threads but those of its producers and consumers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/consumer/consumer.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/producer/producer.h"
#include "batchweave/store/env.h"
#include "batchweave/stream/group.h"

namespace batchweave {

struct StreamOptions {
  bool create = false;  // Create it where it does not exist; open it where it does.
};

class Stream {
 public:
  // Creates the stream `name`: probes the store, then writes stream.json. Of many concurrent creators one wins.
  // Errors: kAlreadyExists, kInvalidArgument, kUnsuitableStore (which rule), kCorrupt, kDenied, kUnavailable, kUnknownOutcome.
  static Result<Stream> Create(Env env, std::string_view name);

  // Errors: kNotFound (no such stream, or it was deleted), kInvalidArgument, kIncompatible, kCorrupt, kDenied,
  // kUnavailable; with options.create also those of Create.
  static Result<Stream> Open(Env env, std::string_view name, StreamOptions options = {});

  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  const std::string& name() const;
  StreamId id() const;

  // Commits a new incarnation of `producer`, which fences every earlier one.
  // Errors: kInvalidArgument (the name, an option), kSealed, kAlreadyExists (it has finished; the message gives its cursor: pass
  // `reopen` to go on), kUnavailable (bounded attempts: try again), kUnknownOutcome (open again), those of the log.
  Result<Producer> OpenProducer(std::string_view producer, ProducerOptions options = {});

  // Writes a part of the batch that `ticket` is for, wherever its producer runs: `range` of the grid, from `slices` of the
  // range's size. The producer publishes the receipt (PublishParts); without that nothing is visible. `provenance`: which
  // samples of the part came from where. Each call writes an object of its own.
  // Errors: kInvalidArgument (a ticket of another stream, a range outside the grid, slices of another shape or missing,
  // provenance beyond kProvenanceBytesMax), kDenied, kUnavailable, kUnknownOutcome (of both: call again).
  Result<PartReceipt> WritePart(const PartTicket& ticket, GridRange range, const GlobalBatch& slices,
                                ByteView provenance = {});

  // With options.group: reads under that group's session, and skips what the session is to skip.
  // Errors: as Consumer::Open; kNotFound (no such group), kFenced (the session is not the group's current one).
  Result<Consumer> OpenConsumer(ConsumerOptions options);

  // Creates the group `name`, which from then on holds every step from `start`: once, before the job's first start.
  // Errors: kAlreadyExists, kTrimmed, kInvalidArgument (the name; beyond the newest step), kDenied (too many groups).
  Result<void> CreateGroup(std::string_view name, Step start);

  // Opens a session of the job that (re)starts at options.start, and fences the one before. One rank calls it.
  // Errors: kNotFound (no such group), kTrimmed (begin at a checkpoint that is still held), kInvalidArgument.
  Result<Group> OpenGroup(std::string_view name, GroupOptions options);

  // Ends the stream for ever: every rank ends at the same step. Already sealed: done. What producers had not committed
  // by then is refused. Returns the number of steps. Errors: those of the log, kUnavailable, kUnknownOutcome.
  Result<Step> Seal();

  // The log, for inspection (show, verify, tail).
  ManifestLog& log();
  Env env() const;

 private:
  class Impl;
  explicit Stream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The names of the streams in a store, in order. Errors: kUnavailable, kDenied.
Result<std::vector<std::string>> ListStreams(ObjectStore& store);

}  // namespace batchweave
