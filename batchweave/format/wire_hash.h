// Hash128 of types.fbs and the one of base.
#pragma once

#include "batchweave/base/hash.h"

namespace batchweave {

namespace wire {
struct Hash128;
}  // namespace wire

wire::Hash128 ToWire(const Hash128& hash);
Hash128 FromWire(const wire::Hash128& hash);

}  // namespace batchweave
