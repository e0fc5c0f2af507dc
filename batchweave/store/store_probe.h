// Is this store one that the protocol may stand on? Some clones of S3 let two creators win, or ignore conditions and
// ranges and answer "ok" all the same.
#pragma once

#include <string_view>

#include "batchweave/store/env.h"

namespace batchweave {

// Tries each rule of docs/protocol.md once, with objects below `prefix` (which ends in '/', holds a fresh nonce, and is
// nobody else's), and removes them. Some dozen requests, none larger than a few kilobytes. What may be damage done on
// the way is looked at again, and a write that is refused is sent again: some seconds on a store that takes one write a
// second of a key, half a minute a write at most. Cannot tell what only a race shows.
// Errors: kUnsuitableStore (names the rule that was broken), kDenied, kUnavailable (nothing was learnt: try again, with
// another nonce; also where an outcome stayed unknown), kInvalidArgument.
Result<void> ProbeStore(Env env, std::string_view prefix);

}  // namespace batchweave
