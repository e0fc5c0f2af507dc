// An intent: what a producer announces to other committers, so that whoever commits next takes it along. Of batches that
// are uploaded, or of an opening. docs/protocol.md, Combining, has the rules, docs/format.md the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/types.h"

namespace batchweave {

// What one intent may hold: a producer with more announces it in turns.
inline constexpr uint64_t kIntentBytesMax = uint64_t{64} << 10;

// Batches of one producer that are uploaded, and perhaps its end.
struct BatchIntent {
  StreamId stream_id{};
  uint64_t writer_features = 0;  // That a committer must know to take it.
  std::string producer{};
  Incarnation incarnation{};
  uint64_t last_seq = 0;  // Of the last batch up to which it goes, of `entries` or committed before.
  std::vector<Entry>
      entries{};        // Of that producer and incarnation, contiguous by seq up to last_seq; none: only its end.
  bool finish = false;  // After last_seq nothing follows.
  bool forget = false;  // As CommitRun::forget.

  // The seq in its key. A mark "finished" counts as one more batch, so that it is not covered before it is taken.
  uint64_t key_seq() const { return last_seq + (finish ? 1 : 0); }
  friend bool operator==(const BatchIntent&, const BatchIntent&) = default;
};

// An opening: the wish for a new incarnation.
struct OpeningIntent {
  StreamId stream_id{};
  uint64_t writer_features = 0;
  std::string producer{};
  Version base{};      // The newest version when it was drawn: an incarnation past it outdates it.
  uint64_t nonce = 0;  // Tells whose opening became the incarnation.
  bool reopen = false;
  friend bool operator==(const OpeningIntent&, const OpeningIntent&) = default;
};

// The rules that an intent keeps whatever stream it is of. Errors: kCorrupt (says which).
Result<void> CheckIntent(const BatchIntent& intent);
Result<void> CheckIntent(const OpeningIntent& intent);

// What is encoded must pass its check.
Bytes EncodeIntent(const BatchIntent& intent);
Bytes EncodeIntent(const OpeningIntent& intent);

// What comes out passes its check. Errors: kCorrupt (says which check failed), kIncompatible (of newer software).
Result<BatchIntent> DecodeBatchIntent(ByteView object);
Result<OpeningIntent> DecodeOpeningIntent(ByteView object);

}  // namespace batchweave
