// What the library may touch of the world outside, and nothing else: a store, a clock, chance, threads.
#pragma once

#include "batchweave/base/clock.h"
#include "batchweave/base/random.h"
#include "batchweave/base/threads.h"
#include "batchweave/store/object_store.h"
#include "batchweave/store/unfinished_uploads.h"

namespace batchweave {

// References: whoever makes the Env owns the parts and keeps them longer than everything opened on it.
struct Env {
  ObjectStore& store;
  Clock& clock;
  Random& random;
  Threads& threads;
  UnfinishedUploads* uploads = nullptr;  // Of the store; null where it keeps none.
};

}  // namespace batchweave
