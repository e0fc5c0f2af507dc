// Stands between a client and a real server, and does to chosen requests what networks and servers do to a few of millions.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "batchweave/testing/loopback_http_server.h"

namespace batchweave {

enum class FaultKind {
  kNone,
  kLostRequest,    // The connection breaks before the server gets the request.
  kLostAnswer,     // The server did it, and the connection breaks before its answer.
  kCutAnswer,      // The same in the middle of the answer.
  kNoAnswer,       // The server did it, and nothing comes of it, ever: the connection stays.
  kStalledAnswer,  // The same in the middle of the answer.
  kTwice,          // The server gets it twice, and the second answer counts.
  kHeld,           // The connection breaks, and the server gets the request late: by kAfterHeld or DeliverHeld.
  kAfterHeld,      // Nothing befalls this one, but the server gets before it what is held.
  kFlippedSent,    // One bit of the request's body is another when it arrives.
  kFlippedRead,    // One bit of the answer's body is another when it arrives.
  kStatus,         // `status` is answered, and the server gets nothing.
  kStatusAfter,    // `status` is answered, and the server did it.
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  int status = 0;
  std::string code{};  // Of the error in the answer's body.
};

class FaultProxy {
 public:
  // Asked of each request, by many threads, one at a time.
  using Choose = std::function<Fault(const HttpMessage& request)>;

  // In front of the server at `port`.
  explicit FaultProxy(int port);

  int port() const { return server_.port(); }
  // From now on; null for none.
  void Set(Choose choose);
  // How many requests have met a fault.
  size_t faults() const;
  // How many requests are held.
  size_t held() const;
  // What the server answered to those that it got by kAfterHeld.
  std::vector<int> late() const;
  // Sends what was held to the server, in order; the statuses that it answers.
  std::vector<int> DeliverHeld();

 private:
  Fault ChooseFault(const HttpMessage& request);
  // The server's answer; none where it has none.
  std::optional<HttpMessage> Forward(const HttpMessage& request) const;
  bool Serve(int connection, HttpMessage request);

  const int server_port_;
  mutable std::mutex mutex_;
  Choose choose_;
  size_t faults_ = 0;
  std::vector<HttpMessage> held_;
  std::vector<int> late_;
  LoopbackHttpServer server_;  // Last: its threads use the rest.
};

}  // namespace batchweave
