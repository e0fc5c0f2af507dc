#include "batchweave/producer/producer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/producer/producer_impl.h"

namespace batchweave {
namespace {

// Readers tell of their progress every few seconds, so that looking more often shows little.
constexpr Duration kLookAgain = std::chrono::seconds(1);

}  // namespace

Result<void> Producer::Impl::AwaitLead() {
  TimePoint stalled_at = After(clock_.Now(), state_->options.stall_after);
  Step reached{};
  while (const std::optional<Lead> lead = BW_TRY(lead_.Exceeded())) {
    const TimePoint now = clock_.Now();
    if (lead->reached > reached) stalled_at = After(now, state_->options.stall_after);
    reached = lead->reached;
    if (now >= stalled_at) {
      return Error{ErrorCode::kStalled,
                   fmt::format("waiting for the readers: the slowest group has reached step {} of {}, {} behind; "
                               "max_lead_steps={} max_lead_bytes={}",
                               lead->reached.value, lead->end.value, HumanSize(lead->bytes),
                               state_->options.max_lead_steps, state_->options.max_lead_bytes)};
    }
    BW_TRY(pipeline_.Pause(*state_, std::min(stalled_at, After(now, kLookAgain))));
  }
  return {};
}

Producer::Producer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Producer::Producer(Producer&&) noexcept = default;

Producer& Producer::operator=(Producer&& other) noexcept {
  if (impl_) Close();
  impl_ = std::move(other.impl_);
  return *this;
}

Producer::~Producer() {
  if (impl_) Close();
}

const std::string& Producer::name() const { return impl_->state_->name; }
Incarnation Producer::incarnation() const { return impl_->state_->opened.incarnation; }
const std::optional<Bytes>& Producer::cursor() const { return impl_->state_->opened.cursor; }
uint64_t Producer::committed_seq() const { return impl_->pipeline_.CommittedSeqOf(*impl_->state_); }

Result<uint64_t> Producer::Publish(GlobalBatch&& batch, PublishOptions options) {
  impl_->uploader_.Start(impl_->state_->options.upload_threads);
  BW_TRY(impl_->deletion_.Tell(impl_->AwaitLead()));
  return impl_->deletion_.Tell(impl_->pipeline_.Enqueue(*impl_->state_, std::move(batch), std::move(options)));
}

Result<PartTicket> Producer::NextTicket(Grid grid, BatchOptions options) {
  return impl_->pipeline_.HandOutTicket(*impl_->state_, impl_->stream_id_, grid, std::move(options));
}

Result<uint64_t> Producer::PublishParts(std::span<const PartReceipt> receipts, const PublishOptions& options) {
  impl_->uploader_.Start(impl_->state_->options.upload_threads);
  BW_TRY(impl_->deletion_.Tell(impl_->AwaitLead()));
  return impl_->deletion_.Tell(impl_->pipeline_.EnqueueParts(*impl_->state_, receipts, options));
}

void Producer::DropTickets() { impl_->pipeline_.DropTickets(*impl_->state_); }

Result<void> Producer::Flush(TimePoint deadline) {
  return impl_->deletion_.Tell(impl_->pipeline_.AwaitCommitted(*impl_->state_, deadline));
}

Result<void> Producer::Finish(TimePoint deadline) {
  impl_->uploader_.Start(impl_->state_->options.upload_threads);
  return impl_->deletion_.Tell(impl_->pipeline_.AwaitFinished(*impl_->state_, deadline));
}

ProducerStats Producer::stats() const { return impl_->pipeline_.StatsOf(*impl_->state_); }

void Producer::Close() { impl_->pipeline_.Close(*impl_->state_); }

}  // namespace batchweave
