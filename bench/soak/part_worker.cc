#include "bench/soak/part_worker.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/format/part_message.h"
#include "bench/soak/batches.h"

namespace batchweave::bench {
namespace {

constexpr Duration kWorkPause = std::chrono::milliseconds(10);
// Longer than a worker is usually dead, shorter than one may be stopped.
constexpr Duration kPatience = std::chrono::seconds(3);
constexpr std::string_view kTicketPrefix = "ticket-";
constexpr std::string_view kReceiptPrefix = "receipt-";

std::string NameOf(const Producer& producer, const PartTicket& ticket) {
  return fmt::format("{}-{}-{:x}", producer.name(), ticket.identity.seq, ticket.nonce);
}
std::string TicketNote(std::string_view name) { return fmt::format("{}{}", kTicketPrefix, name); }
std::string ReceiptNote(std::string_view name, uint32_t cp) { return fmt::format("{}{}-{}", kReceiptPrefix, name, cp); }

void RemoveNotes(const SoakFolder& folder, const std::string& name) {
  folder.RemoveNote(TicketNote(name));
  for (uint32_t cp = 0; cp < kSoakGrid.cp; ++cp) folder.RemoveNote(ReceiptNote(name, cp));
}

// As many as there are by now.
Result<std::vector<PartReceipt>> FindReceipts(const SoakFolder& folder, const std::string& name) {
  std::vector<PartReceipt> receipts;
  for (uint32_t cp = 0; cp < kSoakGrid.cp; ++cp) {
    const std::optional<Bytes> note = folder.FindNote(ReceiptNote(name, cp));
    if (note) receipts.push_back(BW_TRY(DecodePartReceipt(*note)));
  }
  return receipts;
}

Result<void> WriteParts(const SoakFolder& folder, Stream& stream, const std::string& name) {
  const std::optional<Bytes> note = folder.FindNote(TicketNote(name));
  if (!note) return {};  // Its producer has just taken it away.
  const PartTicket ticket = BW_TRY(DecodePartTicket(*note));
  for (uint32_t cp = 0; cp < kSoakGrid.cp; ++cp) {
    if (folder.FindNote(ReceiptNote(name, cp))) continue;
    const GridRange range = SoakPart(cp);
    const std::string producer = name.substr(0, name.find('-', name.find('-') + 1));
    const GlobalBatch slices = BW_TRY(MakeSoakBatch(producer, ticket.identity.seq, range));
    const PartReceipt receipt = BW_TRY(stream.WritePart(ticket, range, slices));
    BW_TRY(folder.PutNote(ReceiptNote(name, cp), EncodePartReceipt(receipt)));
  }
  return {};
}

}  // namespace

Result<bool> PublishByWorkers(const SoakFolder& folder, Env env, Producer& producer, uint64_t seq,
                              const PublishOptions& options) {
  const PartTicket ticket = BW_TRY(producer.NextTicket(kSoakGrid));
  const std::string name = NameOf(producer, ticket);
  if (ticket.identity.seq != seq) return Error{ErrorCode::kCorrupt, "a ticket for another batch: " + name};
  BW_TRY(folder.PutNote(TicketNote(name), EncodePartTicket(ticket)));
  const TimePoint deadline = After(env.clock.Now(), kPatience);
  while (env.clock.Now() < deadline) {
    const std::vector<PartReceipt> receipts = BW_TRY(FindReceipts(folder, name));
    if (receipts.size() == kSoakGrid.cp) {
      BW_TRY(producer.PublishParts(receipts, options));
      RemoveNotes(folder, name);
      return true;
    }
    env.clock.SleepUntil(After(env.clock.Now(), kWorkPause));
  }
  RemoveNotes(folder, name);
  producer.DropTickets();
  return false;
}

void RemoveTickets(const SoakFolder& folder, const Producer& producer) {
  for (const std::string_view prefix : {kTicketPrefix, kReceiptPrefix}) {
    for (const std::string& note : folder.ListNotes(fmt::format("{}{}-", prefix, producer.name()))) {
      folder.RemoveNote(note);
    }
  }
}

Result<void> RunSoakWorker(const SoakFolder& folder) {
  OpenedSoak opened = BW_TRY(OpenSoak(folder));
  const Env env = opened.owned->env();
  while (!folder.IsRaised(kEndSign)) {
    for (const std::string& note : folder.ListNotes(kTicketPrefix)) {
      BW_TRY(WriteParts(folder, opened.stream, note.substr(kTicketPrefix.size())));
    }
    env.clock.SleepUntil(After(env.clock.Now(), kWorkPause));
  }
  return {};
}

}  // namespace batchweave::bench
