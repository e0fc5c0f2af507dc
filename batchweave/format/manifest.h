// One version of the manifest: the whole state of a stream. Each version is one object; creating it is the commit.
//
// Pure data with pure codecs; docs/format.md gives the bytes, docs/protocol.md what may follow what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/types.h"

namespace batchweave {

// Features that this software knows, as bits. Who does not know a reader feature of a manifest must not read it, who
// does not know a writer feature must not commit: an old binary never drops a field that it does not know.
inline constexpr uint64_t kKnownReaderFeatures = 0;
inline constexpr uint64_t kKnownWriterFeatures = 0;

inline constexpr size_t kGroupsMax = 64;
inline constexpr size_t kCheckpointsMax = 1000;
inline constexpr size_t kQuarantinesMax = 1000;
inline constexpr size_t kReasonBytesMax = 255;  // Of a quarantine.

// One training job's hold on the stream.
struct GroupRow {
  std::string name{};
  Session session{};
  Step start{};  // Held until the session's first checkpoint.
  bool start_held = true;
  Step smallest_held{};  // The smallest position that the group holds: start or a checkpoint.
  friend bool operator==(const GroupRow&, const GroupRow&) = default;
};

struct Checkpoint {
  std::string group{};
  std::string name{};
  Step position{};  // The next step that a job restored from it reads.
  bool pinned = false;
  uint64_t order = 0;  // Rises with each registration in the stream: keep_last counts by it.
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Steps [first, end) that a group session skips: exactly the ranges set before it and not lifted before it.
struct Quarantine {
  Step first{};
  Step end{};
  std::string reason{};
  Version set_at{};
  Version lifted_at{};  // 0: in force.
  friend bool operator==(const Quarantine&, const Quarantine&) = default;
};

struct ProducerRow {
  enum class State : uint8_t { kOpen = 0, kFinished = 1, kForgotten = 2, kGone = 3 };
  std::string producer{};
  Incarnation incarnation{};
  uint64_t opening_nonce = 0;  // Of the opening that the current incarnation came from.
  uint64_t seq = 0;            // Of its last committed batch; 0: none.
  std::optional<Step> step{};  // Of its last committed batch.
  State state = State::kOpen;
  // Where its source stands, once no entry of the tail or archive at or above first_step says so.
  std::optional<Bytes> cursor{};
  friend bool operator==(const ProducerRow&, const ProducerRow&) = default;
};

// An archived object: history that left the manifest.
struct ArchiveRef {
  enum class Kind : uint8_t { kEntries = 0, kIndex = 1, kRows = 2 };
  Kind kind = Kind::kEntries;
  Version version{};  // The version that it was written for; with kind and nonce it makes the key.
  uint64_t nonce = 0;
  Step first{};  // Steps [first, end) for entries and index; 0, 0 for rows.
  Step end{};
  uint64_t object_bytes = 0;
  Hash128 hash{};              // Of the object's bytes.
  uint8_t level = 0;           // Entries and rows: 0; an index: one more than its children.
  uint64_t payload_bytes = 0;  // Bytes of the data objects below, to explain what a checkpoint keeps.
  friend bool operator==(const ArchiveRef&, const ArchiveRef&) = default;
};

struct Manifest {
  StreamId stream_id{};
  Version version{};
  CommitId commit_id{};
  Hash128 previous_hash{};  // Of the version before: the chain.
  uint64_t reader_features = 0;
  uint64_t writer_features = 0;
  Step first_step{};               // Below it everything is trimmed.
  Step next_step{};                // One past the newest.
  bool sealed = false;             // The stream has ended: no entries and openings follow.
  bool deleted = false;            // Nothing follows.
  std::vector<GroupRow> groups{};  // Ordered by name.
  std::vector<Entry> tail{};       // Oldest first; the steps [tail_first(), next_step).
  std::vector<ArchiveRef>
      archives{};  // Oldest first, contiguous; they end at tail_first() (steps below first_step may be cut).
  std::vector<Checkpoint> checkpoints{};  // Ordered by `order`.
  std::vector<Quarantine> quarantines{};  // Ordered by set_at.
  std::vector<ProducerRow> rows{};        // Ordered by producer; those changed since `archived_rows`.
  std::optional<ArchiveRef> archived_rows{};

  Step tail_first() const { return {next_step.value - tail.size()}; }
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// Beyond every step: what a group would hold that holds nothing. No manifest has such a group.
inline constexpr Step kNothingHeld{UINT64_MAX};

// What `group.smallest_held` must be in `manifest`: the smallest of its start, while held, and its checkpoints' positions.
Step SmallestHeld(const Manifest& manifest, const GroupRow& group);

// What a live follower reads of a version: the head block alone.
struct ManifestHead {
  Manifest manifest{};  // `tail` has only the newest entries; archives, checkpoints, quarantines and rows are empty.
  uint64_t rest_offset = 0;  // Where the rest block begins in the object.
  uint64_t rest_bytes = 0;
  uint64_t rest_hash = 0;
  Hash128 hash{};  // Of this version: the link of the chain.
};

// A version that was retired: it keeps the slot occupied for ever, and the chain provable.
struct Tombstone {
  Version version{};
  CommitId commit_id{};
  Hash128 hash{};
  Hash128 previous_hash{};
  friend bool operator==(const Tombstone&, const Tombstone&) = default;
};

// The implicit version 0 of a stream: empty. Its own link of the chain is the hash of stream.json; that is also put into
// its previous_hash, so that it is not lost. Never encoded.
Manifest EmptyManifest(StreamId stream_id, Hash128 stream_json_hash);

struct EncodedManifest {
  Bytes bytes{};
  Hash128 hash{};
};

// A guess that covers the head block of nearly every manifest in one ranged read.
inline constexpr size_t kHeadReadBytes = size_t{16} << 10;

// Encodes `manifest`; checks first that it keeps its own rules (a bug where not).
EncodedManifest EncodeManifest(const Manifest& manifest);

// Errors of the decoders: kCorrupt (says which check failed), kIncompatible (newer format or an unknown reader
// feature), kTrimmed (a tombstone lies there).
Result<Manifest> DecodeManifest(ByteView object);

// Every version's object begins with a prelude of this size, which tells how long the blocks are.
inline constexpr size_t kManifestPreludeBytes = 64;

// How many first bytes of the object DecodeManifestHead needs, told by its prelude (`prefix` may be longer).
// Errors: as the decoders.
Result<uint64_t> HeadBytesNeeded(ByteView prefix);

// From the first HeadBytesNeeded bytes of the object, or more.
Result<ManifestHead> DecodeManifestHead(ByteView prefix);

// The whole manifest, from its head and exactly the bytes of its rest block.
// Errors: kCorrupt, also where the rest is short or another's: a tombstone may have landed between the two reads, so
// find the newest version before believing it.
Result<Manifest> DecodeManifestRest(ManifestHead head, ByteView rest);

// The hash of the version, for the chain, of a whole object or of HeadBytesNeeded bytes of it. Errors: as the decoders.
Result<Hash128> ManifestHash(ByteView object);

Bytes EncodeTombstone(const Tombstone& tombstone);
// Errors: kCorrupt, kIncompatible; kNotFound where it is not a tombstone but something else.
Result<Tombstone> DecodeTombstone(ByteView object);

}  // namespace batchweave
