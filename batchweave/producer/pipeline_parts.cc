// The part of the pipeline that is about batches in parts: tickets, and receipts that come back.
#include <fmt/format.h>

#include <utility>

#include "batchweave/producer/join_parts.h"
#include "batchweave/producer/pipeline.h"

namespace batchweave {
namespace {

// Tickets of one producer that are outstanding, at most: as many as batches may wait in its queue.
constexpr size_t kTicketsMax = 4096;

Error Refuse(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

}  // namespace

Result<PartTicket> Pipeline::HandOutTicket(ProducerState& producer, StreamId stream_id, Grid grid,
                                           BatchOptions options) {
  BW_TRY(CheckBatchShape(grid, options));
  const Lock lock(mutex_);
  BW_TRY(CheckOpen(producer));
  if (producer.finish_wanted) return Refuse("a ticket was asked for after Finish()");
  if (producer.tickets.size() >= kTicketsMax) {
    return Refuse(fmt::format("too many tickets are outstanding: producer={} max={}", producer.name, kTicketsMax));
  }
  producer.tickets.push_back({.identity = {.stream_id = stream_id,
                                           .producer = producer.name,
                                           .incarnation = producer.opened.incarnation,
                                           .seq = producer.published_seq + producer.tickets.size() + 1},
                              .grid = grid,
                              .content_type = std::move(options.content_type),
                              .schema_hash = options.schema_hash,
                              .nonce = env_.random.Next()});
  return producer.tickets.back();
}

Result<uint64_t> Pipeline::EnqueueParts(ProducerState& producer, std::span<const PartReceipt> receipts,
                                        const PublishOptions& options) {
  if (!options.provenance.empty()) return Refuse("provenance of a batch in parts is written with each part");
  Lock lock(mutex_);
  BW_TRY(CheckOpen(producer));
  BW_TRY(AwaitRoom(lock, producer, 0));
  if (producer.tickets.empty()) return Refuse(fmt::format("no ticket is outstanding: producer={}", producer.name));
  BW_TRY(CheckPublish(producer, 0, options));
  Entry entry = BW_TRY(JoinParts(producer.tickets.front(), receipts, options));
  producer.tickets.pop_front();
  PendingBatch batch{.state = PendingBatch::State::kUploaded,
                     .uploaded_at = env_.clock.Now(),
                     .size_bytes = PayloadBytes(entry),
                     .options = options};
  batch.packed.emplace().entry = std::move(entry);
  return Append(producer, std::move(batch));
}

void Pipeline::DropTickets(ProducerState& producer) {
  const Lock lock(mutex_);
  producer.tickets.clear();
}

Result<void> Pipeline::CheckNoTickets(const ProducerState& producer) const {
  if (producer.tickets.empty()) return {};
  return Refuse(
      fmt::format("batches in parts come first: publish the parts of the outstanding tickets, or drop them: "
                  "producer={} tickets={} first_seq={}",
                  producer.name, producer.tickets.size(), producer.tickets.front().identity.seq));
}

}  // namespace batchweave
