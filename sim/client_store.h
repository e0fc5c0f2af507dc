// The store as one process sees it: each call is a request that takes its time, and may fail in every way that a network
// and a server know.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "batchweave/store/object_store.h"
#include "sim/machine.h"

namespace batchweave::sim {

class Process;

class ClientStore final : public ObjectStore {
 public:
  ClientStore(Machine machine, Process& process) : machine_(machine), process_(process) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override {
    return {.ordered_list = machine_.server.ordered_list(), .put_bytes_max = uint64_t{5} << 30};
  }

 private:
  // One request under way. Shared with its effects, which may happen after the client is gone.
  template <typename T>
  struct Request {
    std::optional<Result<T>> answer;
  };
  // Sends `effect`, whose result is the answer, with `fate`, and waits for it.
  template <typename T>
  Result<T> Send(const char* verb, std::string_view subject, const Fate& fate,
                 const std::function<Result<T>()>& effect);
  bool AwaitAnswer(SimTime until);
  Result<SharedBytes> Fetch(std::string_view key, StoreCall call, const Fate& fate);

  Machine machine_;
  Process& process_;
};

}  // namespace batchweave::sim
