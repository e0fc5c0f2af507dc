// Batches whose parts other processes write: tickets and receipts are notes in the folder. Workers are killed, do a
// ticket twice, and do those of producers that are dead.
#pragma once

#include <cstdint>

#include "batchweave/base/result.h"
#include "batchweave/producer/producer.h"
#include "batchweave/store/env.h"
#include "bench/soak/folder.h"

namespace batchweave::bench {

// Has the batch `seq` written by workers, and publishes it. False where none did in time: the ticket is dropped, and the
// batch may be published in another way. Errors: of the producer, and of the folder.
Result<bool> PublishByWorkers(const SoakFolder& folder, Env env, Producer& producer, uint64_t seq,
                              const PublishOptions& options);

// What an earlier life of the producer has left.
void RemoveTickets(const SoakFolder& folder, const Producer& producer);

// Writes parts for whoever has a ticket out, until the end. Errors: of WritePart, and of the folder.
Result<void> RunSoakWorker(const SoakFolder& folder);

}  // namespace batchweave::bench
