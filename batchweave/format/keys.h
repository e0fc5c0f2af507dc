// The keys of every object of a stream, and their way back. One place, so that nobody spells a key by hand.
//
//   <name>/stream.json
//   <name>/<stream id>/manifest/<20 digits of UINT64_MAX - version>
//   <name>/<stream id>/archive/<version>-<entries|index|rows>-<nonce>
//   <name>/<stream id>/data/<producer>/<incarnation>-<seq>-<nonce>
//   <name>/<stream id>/intent/<producer>/<incarnation>-<last seq>-<nonce>  and  .../open-<base>-<nonce>
//   <name>/<stream id>/progress/<group>
//   <name>/probe/<random>/...
//
// Versions, incarnations and seqs are 20 decimal digits, nonces and stream ids lowercase hexadecimal of full width, so
// that a sorted listing of a producer shows its oldest objects first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/format/manifest.h"
#include "batchweave/format/types.h"

namespace batchweave {

// Stream, producer, group and checkpoint names: [A-Za-z0-9][A-Za-z0-9._-]{0,99}. `what` begins the message, e.g.
// "producer". Errors: kInvalidArgument, which says the rule.
Result<void> CheckName(std::string_view what, std::string_view name);

// Where a stream lives in its store.
struct StreamKeys {
  std::string name{};
  StreamId stream_id{};

  std::string Manifest(Version version) const;
  std::string ManifestPrefix() const;  // Ends in '/'; also holds the placeholder "_", which sorts after every version.
  std::string Archive(const ArchiveRef& ref) const;
  std::string ArchivePrefix() const;
  std::string Data(std::string_view producer, Incarnation incarnation, uint64_t seq, uint64_t nonce) const;
  std::string DataPrefix() const;
  std::string Intent(std::string_view producer, Incarnation incarnation, uint64_t last_seq, uint64_t nonce) const;
  std::string Opening(std::string_view producer, Version base, uint64_t nonce) const;
  std::string IntentPrefix() const;
  std::string Progress(std::string_view group) const;
  std::string ProgressPrefix() const;
  std::string StreamPrefix() const;  // Everything but stream.json and the probes; ends in '/'.
};

std::string StreamJsonKey(std::string_view name);
std::string ProbePrefix(std::string_view name, uint64_t nonce);  // Ends in '/'.

// What a key under StreamPrefix() says of itself.
struct ParsedKey {
  enum class Kind { kManifest, kArchive, kData, kIntent, kOpening, kProgress, kPlaceholder };
  Kind kind;
  Version version{};  // kManifest, kArchive; kOpening: its base.
  ArchiveRef::Kind archive = ArchiveRef::Kind::kEntries;
  std::string name{};         // The producer, or the group.
  Incarnation incarnation{};  // kData, kIntent.
  uint64_t seq = 0;           // kData, kIntent.
  uint64_t nonce = 0;
  friend bool operator==(const ParsedKey&, const ParsedKey&) = default;
};

// None where the key is not one that this software writes: such a key is never deleted.
std::optional<ParsedKey> ParseKey(const StreamKeys& keys, std::string_view key);

// True of the key of an object that, once there, has its bytes for ever, of whichever stream: data and archived objects.
// (A version becomes a tombstone.)
bool NeverChanges(std::string_view key);

}  // namespace batchweave
