#include "batchweave/format/intent.h"

#include <flatbuffers/flatbuffers.h>

#include <span>

#include "batchweave/base/check.h"
#include "batchweave/format/entry_codec.h"
#include "batchweave/format/intent_generated.h"
#include "batchweave/format/keys.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/verified_root.h"
#include "batchweave/format/wire_hash.h"

namespace batchweave {
namespace {

Error Corrupt(std::string_view reason) { return {ErrorCode::kCorrupt, std::string(reason)}; }

Bytes FinishIntent(flatbuffers::FlatBufferBuilder& builder, ObjectKind kind) {
  return EncodeFramed(kind, std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())));
}

}  // namespace

Result<void> CheckIntent(const BatchIntent& intent) {
  if (!CheckName("producer", intent.producer).ok()) return Corrupt("intent has no valid producer");
  if (intent.incarnation == Incarnation{}) return Corrupt("intent has no incarnation");
  if (intent.last_seq == UINT64_MAX) return Corrupt("intent ends beyond 64 bits");
  if (intent.entries.empty() && !intent.finish) return Corrupt("intent announces nothing");
  if (intent.entries.size() > intent.last_seq) return Corrupt("intent has more batches than seqs");
  uint64_t seq = intent.last_seq - intent.entries.size();
  for (const Entry& entry : intent.entries) {
    BW_TRY(CheckEntry(entry));
    if (entry.producer != intent.producer) return Corrupt("intent has a batch of another producer");
    if (entry.incarnation != intent.incarnation) return Corrupt("intent has a batch of another incarnation");
    if (entry.seq != ++seq) return Corrupt("batches of an intent do not follow each other");
  }
  return {};
}

Result<void> CheckIntent(const OpeningIntent& intent) {
  if (!CheckName("producer", intent.producer).ok()) return Corrupt("opening has no valid producer");
  return {};
}

Bytes EncodeIntent(const BatchIntent& intent) {
  BW_CHECK(CheckIntent(intent).ok());
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<wire::Entry>> entries;
  for (const Entry& entry : intent.entries) entries.push_back(WriteEntry(builder, entry));
  const auto entries_at = entries.empty() ? 0 : builder.CreateVector(entries);
  const auto producer_at = builder.CreateSharedString(intent.producer);
  const wire::Hash128 stream_id = ToWire(intent.stream_id.bits);
  builder.Finish(wire::CreateBatchIntent(builder, &stream_id, intent.writer_features, producer_at,
                                         intent.incarnation.value, intent.last_seq, intent.finish, intent.forget,
                                         entries_at));
  return FinishIntent(builder, ObjectKind::kBatchIntent);
}

Bytes EncodeIntent(const OpeningIntent& intent) {
  BW_CHECK(CheckIntent(intent).ok());
  flatbuffers::FlatBufferBuilder builder;
  const auto producer_at = builder.CreateString(intent.producer);
  const wire::Hash128 stream_id = ToWire(intent.stream_id.bits);
  builder.Finish(wire::CreateOpeningIntent(builder, &stream_id, intent.writer_features, producer_at, intent.base.value,
                                           intent.nonce, intent.reopen));
  return FinishIntent(builder, ObjectKind::kOpeningIntent);
}

Result<BatchIntent> DecodeBatchIntent(ByteView object) {
  const AlignedBlock block(BW_TRY(DecodeWholeBlock(ObjectKind::kBatchIntent, object)));
  const auto* table = BW_TRY(VerifiedRoot<wire::BatchIntent>(block.view(), "intent"));
  BatchIntent intent{.stream_id = {FromWire(*table->stream_id())},
                     .writer_features = table->writer_features(),
                     .producer = table->producer()->str(),
                     .incarnation = {table->incarnation()},
                     .last_seq = table->last_seq(),
                     .finish = table->finish(),
                     .forget = table->forget()};
  if (table->entries() != nullptr) {
    CopyBudget budget(block.view());
    intent.entries.reserve(table->entries()->size());
    for (const wire::Entry* entry : *table->entries()) intent.entries.push_back(BW_TRY(ReadEntry(*entry, budget)));
  }
  BW_TRY(CheckIntent(intent));
  return intent;
}

Result<OpeningIntent> DecodeOpeningIntent(ByteView object) {
  const AlignedBlock block(BW_TRY(DecodeWholeBlock(ObjectKind::kOpeningIntent, object)));
  const auto* table = BW_TRY(VerifiedRoot<wire::OpeningIntent>(block.view(), "opening"));
  OpeningIntent intent{.stream_id = {FromWire(*table->stream_id())},
                       .writer_features = table->writer_features(),
                       .producer = table->producer()->str(),
                       .base = {table->base()},
                       .nonce = table->nonce(),
                       .reopen = table->reopen()};
  BW_TRY(CheckIntent(intent));
  return intent;
}

}  // namespace batchweave
