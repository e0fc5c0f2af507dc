// From a URL to an Env: a store with the operating system's clock, random source and threads.
#pragma once

#include <memory>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/store/durability.h"
#include "batchweave/store/env.h"

namespace batchweave {

struct EnvOptions {
  Durability durability = Durability::kFull;  // Local stores only.
};

// Owns the parts of an Env. Must outlive everything opened on env().
class OwnedEnv {
 public:
  OwnedEnv(std::unique_ptr<ObjectStore> store, std::unique_ptr<Clock> clock, std::unique_ptr<Random> random,
           std::unique_ptr<Threads> threads);
  ~OwnedEnv();
  Env env() { return {.store = *store_, .clock = *clock_, .random = *random_, .threads = *threads_}; }

 private:
  std::unique_ptr<ObjectStore> store_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Random> random_;
  std::unique_ptr<Threads> threads_;
};

// "file:///absolute/path" or a plain path (a directory that exists), or "memory:" (one per call: for tests).
// Errors: kInvalidArgument (the URL: says what is known), kNotFound (no such directory), kDenied.
Result<std::unique_ptr<OwnedEnv>> OpenEnv(std::string_view url, EnvOptions options = {});

}  // namespace batchweave
