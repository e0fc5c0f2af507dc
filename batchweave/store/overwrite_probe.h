// Does an overwrite of this store ever show as absence? A server that removes and then writes opens a slot for an
// instant, and a creator that races it wins what was won long ago (fault M5). Only a race shows it, so this is not part
// of ProbeStore.
#pragma once

#include <string_view>

#include "batchweave/store/env.h"

namespace batchweave {

// Lets creators and readers race with an overwriter of one object below `prefix` (which ends in '/', holds a fresh
// nonce, and is nobody else's), and removes it. Some hundred small requests from five threads at once; on a store that
// refuses most of them, since it takes one write a second of a key, what there is time for in 20 s, and up to 10 s for
// the removal. That nothing was seen is no proof, but a store that passes many of these is one that does it right.
// Errors: kUnsuitableStore (it was seen), kDenied, kUnavailable (nothing was learnt: try again, with another nonce).
Result<void> ProbeOverwrite(Env env, std::string_view prefix);

}  // namespace batchweave
