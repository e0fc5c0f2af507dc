// The numbers that name things in a stream, each a type of its own so that one is never passed for another.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "batchweave/base/hash.h"

namespace batchweave {

// The number of a training step: the place of a global batch in the one order of the stream. The first is 0.
struct Step {
  uint64_t value = 0;
  friend auto operator<=>(const Step&, const Step&) = default;
};

// The number of a manifest. Version 0 is implicit and empty; the first commit creates 1.
struct Version {
  uint64_t value = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

// A producer's fence: the version of the commit that opened it. 0: none.
struct Incarnation {
  uint64_t value = 0;
  friend auto operator<=>(const Incarnation&, const Incarnation&) = default;
};

// The fence of a group: the version of the commit that opened its session. 0: none.
struct Session {
  uint64_t value = 0;
  friend auto operator<=>(const Session&, const Session&) = default;
};

// A stream's identity for ever: 128 random bits, in every key.
struct StreamId {
  Hash128 bits;
  friend auto operator<=>(const StreamId&, const StreamId&) = default;
};

// Names one attempt to commit: 128 random bits, by which a committer recognises its own.
struct CommitId {
  Hash128 bits;
  friend auto operator<=>(const CommitId&, const CommitId&) = default;
};

inline Step operator+(Step step, uint64_t count) { return {step.value + count}; }
inline Version Next(Version version) { return {version.value + 1}; }
inline Version Previous(Version version) { return {version.value - 1}; }

inline std::string ToString(StreamId id) { return ToHex(id.bits); }
inline std::string ToString(CommitId id) { return ToHex(id.bits); }

}  // namespace batchweave
