// The chain of manifest versions: every slot is occupied, each version names the hash of the one before, and extends it.
#pragma once

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/stream/verify.h"
#include "batchweave/stream/verify_inventory.h"

namespace batchweave {

// Checks I1 and I2 of docs/protocol.md on the versions 1 to `inventory.newest()`, from the heads of the manifests, or
// whole where options.deep asks for it. Adds to `report` what it finds and counts. `origin` is the hash of stream.json.
// Errors: as VerifyStream.
Result<void> VerifyChain(ManifestLog& log, const Inventory& inventory, Hash128 origin, const VerifyOptions& options,
                         VerifyReport& report);

}  // namespace batchweave
