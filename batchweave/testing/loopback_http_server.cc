#include "batchweave/testing/loopback_http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Where the body that begins with `body` ends; nothing where more is to come. Answers are read whole before the next
// request is sent, so that what ends with a last chunk has ended.
bool IsWhole(const HttpMessage& message) {
  if (ToLower(message.Header("transfer-encoding")) == "chunked") return message.body.ends_with(kLastChunk);
  const std::string length = message.Header("content-length");
  return length.empty() || message.body.size() >= std::stoul(length);
}

}  // namespace

std::string_view HttpMessage::first_line() const { return std::string_view(head).substr(0, head.find("\r\n")); }

std::string_view HttpMessage::method() const { return first_line().substr(0, first_line().find(' ')); }

std::string_view HttpMessage::target() const {
  const std::string_view rest = first_line().substr(method().size() + 1);
  return rest.substr(0, rest.find(' '));
}

int HttpMessage::status() const { return std::stoi(std::string(first_line().substr(first_line().find(' ') + 1, 3))); }

std::string HttpMessage::Header(std::string_view name) const {
  const std::string lower = ToLower(head);
  const std::string wanted = "\r\n" + std::string(name) + ":";
  const size_t at = lower.find(wanted);
  if (at == std::string::npos) return "";
  const size_t begin = head.find_first_not_of(' ', at + wanted.size());
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::optional<HttpMessage> ReadHttpMessage(int connection, bool has_no_body) {
  HttpMessage message;
  std::array<char, 65536> buffer{};
  for (;;) {
    const bool has_head = message.head.ends_with(kHeadEnd);
    if (has_head && (has_no_body || IsWhole(message))) return message;
    const ssize_t size = read(connection, buffer.data(), buffer.size());
    if (size <= 0) return std::nullopt;
    const std::string_view piece(buffer.data(), static_cast<size_t>(size));
    if (has_head) {
      message.body.append(piece);
      continue;
    }
    message.head.append(piece);
    const size_t end = message.head.find(kHeadEnd);
    if (end == std::string::npos) continue;
    message.body = message.head.substr(end + kHeadEnd.size());
    message.head.resize(end + kHeadEnd.size());
  }
}

bool SendAll(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(size));
  }
  return true;
}

int ConnectLoopback(int port) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return connection;
  close(connection);
  return -1;
}

LoopbackHttpServer::LoopbackHttpServer(Serve serve) : serve_(std::move(serve)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  BW_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listener_, 64) == 0);
  BW_CHECK(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

LoopbackHttpServer::~LoopbackHttpServer() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int connection : connections_) shutdown(connection, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  for (const int connection : connections_) close(connection);
  close(listener_);
}

void LoopbackHttpServer::Accept() {
  for (;;) {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    const int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    const std::lock_guard lock(mutex_);
    connections_.push_back(connection);
    threads_.emplace_back([this, connection] {
      while (std::optional<HttpMessage> request = ReadHttpMessage(connection)) {
        if (!serve_(connection, *std::move(request))) break;
      }
      shutdown(connection, SHUT_RDWR);
    });
  }
}

}  // namespace batchweave
