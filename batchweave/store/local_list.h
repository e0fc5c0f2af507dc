// LIST of a directory.
#pragma once

#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/store/object_store.h"

namespace batchweave {

// A page of the keys below the directory `root_fd`, as ObjectStore::List has it. Pages happen to be in bytewise order of
// keys; but each of them reads anew every folder on the way, whole: 0.4 microseconds and some 60 bytes of memory a name
// there, then a stat for each object returned. So ask for large pages.
// `root` is for messages. Errors: kUnavailable, kDenied.
Result<ListPage> ListDirectory(int root_fd, std::string_view root, std::string_view prefix,
                               std::string_view start_after, size_t limit);

}  // namespace batchweave
