// XXH3 (github.com/Cyan4973/xxHash): the one checksum of the project. Not a defence against an adversary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "batchweave/base/bytes.h"

namespace batchweave {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

// 32 lowercase hexadecimal digits.
std::string ToHex(const Hash128& hash);

uint64_t Hash64(ByteView bytes);
Hash128 HashOf128(ByteView bytes);

// Hash64 of bytes that arrive in pieces.
class Hasher64 {
 public:
  Hasher64();
  ~Hasher64();
  Hasher64(Hasher64&&) noexcept;
  Hasher64& operator=(Hasher64&&) noexcept;

  void Reset();
  void Update(ByteView piece);
  uint64_t Digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Copies `from` to `to` (as long) and returns Hash64 of it, in one pass. Much is not left in the caches. `from` must not
// change meanwhile: it may be read twice.
uint64_t CopyAndHash64(ByteView from, MutableByteView to);

}  // namespace batchweave
