#include "batchweave/testing/scripted_http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace batchweave {
namespace {

bool IsWhole(std::string_view answer) {
  constexpr std::string_view kHeadEnd = "\r\n\r\n";
  const size_t end = answer.find(kHeadEnd);
  if (end == std::string_view::npos) return false;
  const std::string length =
      HttpMessage{std::string(answer.substr(0, end + kHeadEnd.size())), ""}.Header("content-length");
  return answer.size() - end - kHeadEnd.size() == (length.empty() ? 0 : std::stoul(length));
}

}  // namespace

std::string HttpAnswer(int status, std::string_view headers, std::string_view body) {
  return fmt::format("HTTP/1.1 {} Scripted\r\n{}Content-Length: {}\r\n\r\n{}", status, headers, body.size(), body);
}

ScriptedHttpServer::ScriptedHttpServer(std::vector<std::string> answers)
    : answers_(std::move(answers)),
      server_([this](int connection, const HttpMessage& request) { return Serve(connection, request); }) {}

std::string ScriptedHttpServer::url() const { return fmt::format("http://127.0.0.1:{}", server_.port()); }

std::vector<std::string> ScriptedHttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::string ScriptedHttpServer::NextAnswer(std::string request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(request));
  return answers_[std::min(requests_.size(), answers_.size()) - 1];
}

bool ScriptedHttpServer::Serve(int connection, const HttpMessage& request) {
  const std::string answer = NextAnswer(ToLower(request.head));
  return answer == kNoHttpAnswer || (SendAll(connection, answer) && IsWhole(answer));
}

}  // namespace batchweave
