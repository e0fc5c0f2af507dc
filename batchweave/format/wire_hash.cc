#include "batchweave/format/wire_hash.h"

#include "batchweave/format/types_generated.h"

namespace batchweave {

wire::Hash128 ToWire(const Hash128& hash) { return wire::Hash128(hash.high, hash.low); }

Hash128 FromWire(const wire::Hash128& hash) { return {.high = hash.high(), .low = hash.low()}; }

}  // namespace batchweave
