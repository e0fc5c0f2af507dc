// The store as it truly is: what lies under which key, with no latency and no faults. Clients (client_store.h) reach it
// over a network that has both; checkers look at it directly, and are told of each change.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "batchweave/store/object_store.h"
#include "sim/scheduler.h"

namespace batchweave::sim {

using SharedBytes = std::shared_ptr<const Bytes>;

// Is told of each change right after it.
class ServerObserver {
 public:
  virtual ~ServerObserver() = default;
  virtual void OnCreate(const std::string& key, const SharedBytes& bytes) = 0;
  virtual void OnOverwrite(const std::string& key, const SharedBytes& before, const SharedBytes& after) = 0;
  virtual void OnDelete(const std::string& key, const SharedBytes& before) = 0;
};

class Server {
 public:
  Server(const Scheduler& scheduler, bool ordered_list) : scheduler_(scheduler), objects_(Order{ordered_list}) {}

  // `observer` must outlive the server.
  void Observe(ServerObserver& observer) { observers_.push_back(&observer); }

  // Errors: kAlreadyExists.
  Result<void> Put(const std::string& key, const SharedBytes& bytes, PutMode mode);
  // Fault M5: an overwrite removes what is there, and writes a moment later.
  void RemoveToOverwrite() { removes_to_overwrite_ = true; }
  bool removes_to_overwrite() const { return removes_to_overwrite_; }
  // Null where there is none. Whoever reads shows it: from then on every LIST has it.
  SharedBytes Read(std::string_view key);
  void Delete(const std::string& key);
  // Its writer was told that it is there.
  void Acknowledge(std::string_view key);

  // A LIST that began at `asked_at` and looks now. What was neither acknowledged nor seen by then, or went since, is in it
  // if `coin` says so.
  ListPage List(std::string_view prefix, std::string_view start_after, size_t limit, SimTime asked_at,
                const std::function<bool()>& coin);

  // For checkers: changes nothing, shows nothing.
  SharedBytes Find(std::string_view key) const;
  void ForEach(const std::function<void(const std::string&, const SharedBytes&)>& visit) const;
  bool ordered_list() const { return objects_.key_comp().ascending; }

 private:
  // What nobody was told of yet, and nobody has seen, a LIST may leave out: but not for ever.
  static constexpr SimTime kHiddenMax = std::chrono::minutes(1);
  struct Object {
    SharedBytes bytes;
    SimTime shown_at;  // At the latest.
  };
  struct Removed {
    SimTime at;
    uint64_t size_bytes;
  };
  struct Order {
    bool ascending;
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return ascending ? a < b : b < a; }
  };

  void ForgetRemoved();

  const Scheduler& scheduler_;
  std::map<std::string, Object, Order> objects_;
  std::map<std::string, Removed, std::less<>> removed_;  // Lately: a LIST under way may still have them.
  std::vector<ServerObserver*> observers_;
  bool removes_to_overwrite_ = false;
};

// The server without a network: for checkers, which use the library to read what it wrote. Never suspends.
class DirectStore final : public ObjectStore {
 public:
  explicit DirectStore(const Server& server) : server_(server) {}
  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override { return {.ordered_list = false, .put_bytes_max = uint64_t{5} << 30}; }

 private:
  const Server& server_;
};

// Fills `request` from `object`, as a ranged read does; `object` may be shorter than the range.
void ReadRange(const Bytes& object, ReadRequest& request);

}  // namespace batchweave::sim
