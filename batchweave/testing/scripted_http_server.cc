#include "batchweave/testing/scripted_http_server.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave {
namespace {

constexpr std::string_view kHeadersEnd = "\r\n\r\n";

// Of a message whose header names are in lower case; 0 where it says nothing.
size_t ContentLength(std::string_view head) {
  constexpr std::string_view kName = "\r\ncontent-length: ";
  const size_t at = head.find(kName);
  return at == std::string_view::npos ? 0 : std::stoul(std::string(head.substr(at + kName.size(), 20)));
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool IsWhole(std::string_view answer) {
  const size_t end = answer.find(kHeadersEnd);
  return end != std::string_view::npos &&
         answer.size() - end - kHeadersEnd.size() == ContentLength(LowerCase(answer.substr(0, end)));
}

// The head of the next request, whose body is read and dropped; empty where the client closed.
std::string ReadRequest(int connection) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const size_t end = text.find(kHeadersEnd);
    if (end != std::string::npos) {
      std::string head = LowerCase(text.substr(0, end));
      if (text.size() >= end + kHeadersEnd.size() + ContentLength(head)) return head;
    }
    const ssize_t size = read(connection, buffer.data(), buffer.size());
    if (size <= 0) return "";
    text.append(buffer.data(), static_cast<size_t>(size));
  }
}

}  // namespace

std::string HttpAnswer(int status, std::string_view headers, std::string_view body) {
  return fmt::format("HTTP/1.1 {} Scripted\r\n{}Content-Length: {}\r\n\r\n{}", status, headers, body.size(), body);
}

ScriptedHttpServer::ScriptedHttpServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  BW_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listener_, 64) == 0);
  BW_CHECK(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

ScriptedHttpServer::~ScriptedHttpServer() {
  stopping_ = true;
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

std::string ScriptedHttpServer::url() const { return fmt::format("http://127.0.0.1:{}", port_); }

std::vector<std::string> ScriptedHttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void ScriptedHttpServer::Accept() {
  while (!stopping_) {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    const std::lock_guard lock(mutex_);
    connections_.push_back(connection);
    threads_.emplace_back([this, connection] { Serve(connection); });
  }
}

std::string ScriptedHttpServer::NextAnswer(std::string request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(request));
  return answers_[std::min(requests_.size(), answers_.size()) - 1];
}

void ScriptedHttpServer::Serve(int connection) {
  for (;;) {
    std::string request = ReadRequest(connection);
    if (request.empty()) return;
    const std::string answer = NextAnswer(std::move(request));
    if (answer == kNoHttpAnswer) continue;
    std::string_view rest = answer;
    while (!rest.empty()) {
      const ssize_t size = send(connection, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (size <= 0) return;
      rest.remove_prefix(static_cast<size_t>(size));
    }
    if (IsWhole(answer)) continue;
    shutdown(connection, SHUT_RDWR);
    return;
  }
}

}  // namespace batchweave
