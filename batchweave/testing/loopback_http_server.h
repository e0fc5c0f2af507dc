// The ground for servers and proxies of tests: HTTP/1.1 on loopback, a thread a connection.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace batchweave {

// A request or an answer.
struct HttpMessage {
  std::string head;  // With the empty line at its end.
  std::string body;  // As it was sent: chunks with their frames.

  // "GET /path HTTP/1.1", or "HTTP/1.1 200 OK".
  std::string_view first_line() const;
  std::string_view method() const;  // Of a request.
  std::string_view target() const;  // Of a request: path and query.
  int status() const;               // Of an answer.
  // Of a header, named in lower case; empty where there is none.
  std::string Header(std::string_view name) const;
};

std::string ToLower(std::string_view text);
// The next message; none where the other side closed first. An answer to HEAD `has_no_body`, whatever its head says.
std::optional<HttpMessage> ReadHttpMessage(int connection, bool has_no_body = false);
// False where the connection is broken.
bool SendAll(int connection, std::string_view bytes);
// To a port of loopback; -1 where nobody listens.
int ConnectLoopback(int port);

class LoopbackHttpServer {
 public:
  // Called for each request, on the thread of its connection: sends the answer, and says whether the connection goes on.
  using Serve = std::function<bool(int connection, HttpMessage request)>;

  explicit LoopbackHttpServer(Serve serve);
  ~LoopbackHttpServer();
  LoopbackHttpServer(const LoopbackHttpServer&) = delete;
  LoopbackHttpServer& operator=(const LoopbackHttpServer&) = delete;

  int port() const { return port_; }

 private:
  void Accept();

  const Serve serve_;
  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<int> connections_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace batchweave
