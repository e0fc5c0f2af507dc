// The store of the laboratory: what `bw_sim scale` commits to. Simpler than server.h and client_store.h, which look for
// breaches, so that ten thousand clients fit: it keeps the four rules, a LIST shows what there is, requests fail only
// where they are throttled or an outage has it so, and reads of one call overlap, and are hedged as those of the client of
// cloud stores are. Each request is counted.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "batchweave/store/object_store.h"
#include "sim/process.h"
#include "sim/scale/scenario.h"
#include "sim/server.h"

namespace batchweave::sim {

// What all clients share. Of data objects it is only told: they are not kept.
class LabServer {
 public:
  using Objects = std::map<std::string, SharedBytes, std::less<>>;

  LabServer(Scheduler& scheduler, Network& network) : scheduler_(scheduler), network_(network) {}

  Scheduler& scheduler() { return scheduler_; }
  Network& network() { return network_; }
  Objects& objects() { return objects_; }
  RequestCounts& requests() { return requests_; }

  // Is told of each object that was created, right after.
  void OnCreate(std::function<void(const std::string&, const SharedBytes&)> told) { on_create_ = std::move(told); }

  Result<void> Put(const std::string& key, const SharedBytes& bytes, PutMode mode);
  SharedBytes Find(std::string_view key) const;  // Null where there is none.
  ListPage List(std::string_view prefix, std::string_view start_after, size_t limit) const;
  // Counts a request and says what becomes of it.
  Fate Ask(StoreCall call, std::string_view key, uint64_t size_bytes);

 private:
  Scheduler& scheduler_;
  Network& network_;
  Objects objects_;
  RequestCounts requests_;
  std::function<void(const std::string&, const SharedBytes&)> on_create_;
};

// The store as one process sees it.
class LabClient final : public ObjectStore {
 public:
  LabClient(LabServer& server, Process& process) : server_(server), process_(process) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override {
    return {.ordered_list = server_.network().profile().ordered_list, .put_bytes_max = uint64_t{5} << 30};
  }

 private:
  // Waits as `fate` has it, with `effect` when it reaches the server. False: it failed, as the error says.
  Result<void> Send(const Fate& fate, std::string_view subject, const std::function<void()>& effect);
  Fate Hedged(std::string_view key, uint64_t size_bytes);

  LabServer& server_;
  Process& process_;
  uint64_t reads_ = 0;
  uint64_t hedged_ = 0;
};

// The server at once and for nothing: to build streams in, and for the tally to look at them.
class LabBackdoor final : public ObjectStore {
 public:
  explicit LabBackdoor(LabServer& server) : server_(server) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override { return {.ordered_list = true, .put_bytes_max = uint64_t{5} << 30}; }

 private:
  LabServer& server_;
};

}  // namespace batchweave::sim
