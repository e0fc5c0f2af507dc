// Objects in S3, GCS or Azure, or in what speaks as they do.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "batchweave/base/clock.h"
#include "batchweave/base/random.h"
#include "batchweave/store/backoff.h"
#include "batchweave/store/object_store.h"
#include "batchweave/store/unfinished_uploads.h"

namespace batchweave {

// Names and values as in a URL's query (docs/decisions/0008-cloud.md), and secrets too, which a URL may not hold.
using StorageOptions = std::vector<std::pair<std::string, std::string>>;

// True of "s3://", "gs://" and "az://".
bool IsCloudUrl(std::string_view url);

struct CloudReads {
  uint64_t ranges = 0;  // Asked for by Get, a range above 16 MiB as several.
  uint64_t hedged = 0;  // Of these, asked for twice, since the answer took unusually long: at most one of twenty.
};

class CloudStore : public ObjectStore, public UnfinishedUploads {
 public:
  // Since it was opened.
  virtual CloudReads reads() const = 0;
};

// "s3://bucket/prefix?endpoint=...&region=...": keys lie below the prefix. What neither `options` nor the URL gives comes
// from the usual environment variables. Asks no server yet.
//
// The store: a put is sent once, whatever becomes of it. Everything else is tried again after kUnavailable, with full
// jitter and no earlier than the server asked for, for at most ten seconds. Safe for concurrent use, also by a forked
// child. `clock` and `random` must outlive it.
// Errors: kInvalidArgument (the URL or an option, or a build without the cloud stores: says what is missing).
Result<std::unique_ptr<CloudStore>> OpenCloudStore(std::string_view url, const StorageOptions& options, Clock& clock,
                                                   Random& random, RetryPolicy policy = {});

}  // namespace batchweave
