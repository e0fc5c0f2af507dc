// From a URL to an Env: a store with the operating system's clock, random source and threads.
#pragma once

#include <memory>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/store/cloud/cloud_store.h"
#include "batchweave/store/durability.h"
#include "batchweave/store/env.h"

namespace batchweave {

struct EnvOptions {
  Durability durability = Durability::kFull;  // Local stores only.
  // Of a cloud store. Of any store: node_cache_dir and node_cache_bytes (docs/stores.md), which the URL of a cloud store may
  // have too.
  StorageOptions storage_options{};
  // Off: whatever is said of a cache, for who wants to see the store itself.
  bool node_cache = true;
};

// Owns the parts of an Env. Must outlive everything opened on env().
class OwnedEnv {
 public:
  OwnedEnv(std::unique_ptr<Clock> clock, std::unique_ptr<Random> random, std::unique_ptr<Threads> threads,
           std::unique_ptr<ObjectStore> store, UnfinishedUploads* uploads);
  ~OwnedEnv();
  Env env() {
    return {.store = *store_, .clock = *clock_, .random = *random_, .threads = *threads_, .uploads = uploads_};
  }

 private:
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Random> random_;
  std::unique_ptr<Threads> threads_;
  std::unique_ptr<ObjectStore> store_;  // May use those above.
  UnfinishedUploads* uploads_;          // Part of the store.
};

// "file:///absolute/path" or a plain path (a directory that exists), "memory:" (one per call: for tests), or what
// OpenCloudStore takes, such as "s3://bucket/prefix".
// Errors: kInvalidArgument (the URL or an option: says what is known), kNotFound (no such directory, or none to make
// node_cache_dir in), kDenied.
Result<std::unique_ptr<OwnedEnv>> OpenEnv(std::string_view url, const EnvOptions& options = {});

}  // namespace batchweave
