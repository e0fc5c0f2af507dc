#include "tests/cloud/fault_proxy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace batchweave {
namespace {

std::string ErrorAnswer(const Fault& fault) {
  const std::string body = fmt::format("<?xml version=\"1.0\"?><Error><Code>{}</Code></Error>", fault.code);
  return fmt::format("HTTP/1.1 {} Fault\r\nx-ms-error-code: {}\r\nContent-Length: {}\r\n\r\n{}", fault.status,
                     fault.code, body.size(), body);
}

void FlipBit(std::string& body) {
  if (!body.empty()) body[body.size() / 2] = static_cast<char>(body[body.size() / 2] ^ 4);
}

}  // namespace

FaultProxy::FaultProxy(int port)
    : server_port_(port),
      server_([this](int connection, HttpMessage request) { return Serve(connection, std::move(request)); }) {}

void FaultProxy::Set(Choose choose) {
  const std::lock_guard lock(mutex_);
  choose_ = std::move(choose);
}

size_t FaultProxy::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

size_t FaultProxy::held() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

std::vector<int> FaultProxy::late() const {
  const std::lock_guard lock(mutex_);
  return late_;
}

std::vector<int> FaultProxy::DeliverHeld() {
  std::vector<HttpMessage> held;
  {
    const std::lock_guard lock(mutex_);
    held.swap(held_);
  }
  std::vector<int> statuses;
  for (const HttpMessage& request : held) {
    const std::optional<HttpMessage> answer = Forward(request);
    statuses.push_back(answer ? answer->status() : 0);
  }
  return statuses;
}

Fault FaultProxy::ChooseFault(const HttpMessage& request) {
  const std::lock_guard lock(mutex_);
  Fault fault = choose_ ? choose_(request) : Fault{};
  if (fault.kind != FaultKind::kNone) ++faults_;
  if (fault.kind == FaultKind::kHeld) held_.push_back(request);
  return fault;
}

std::optional<HttpMessage> FaultProxy::Forward(const HttpMessage& request) const {
  const int server = ConnectLoopback(server_port_);
  if (server < 0) return std::nullopt;
  std::optional<HttpMessage> answer;
  if (SendAll(server, request.head) && SendAll(server, request.body)) {
    answer = ReadHttpMessage(server, request.method() == "HEAD");
  }
  close(server);
  return answer;
}

bool FaultProxy::Serve(int connection, HttpMessage request) {
  const Fault fault = ChooseFault(request);
  switch (fault.kind) {
    case FaultKind::kLostRequest:
    case FaultKind::kHeld: return false;
    case FaultKind::kStatus: return SendAll(connection, ErrorAnswer(fault));
    case FaultKind::kFlippedSent: FlipBit(request.body); break;
    case FaultKind::kTwice: Forward(request); break;
    case FaultKind::kAfterHeld: {
      const std::vector<int> statuses = DeliverHeld();
      const std::lock_guard lock(mutex_);
      late_.insert(late_.end(), statuses.begin(), statuses.end());
      break;
    }
    default: break;
  }
  std::optional<HttpMessage> answer = Forward(request);
  if (!answer) return false;
  switch (fault.kind) {
    case FaultKind::kLostAnswer: return false;
    case FaultKind::kNoAnswer: return true;
    case FaultKind::kStatusAfter: return SendAll(connection, ErrorAnswer(fault));
    case FaultKind::kFlippedRead: FlipBit(answer->body); break;
    case FaultKind::kCutAnswer:
    case FaultKind::kStalledAnswer: {
      const std::string whole = answer->head + answer->body;
      SendAll(connection, std::string_view(whole).substr(0, whole.size() - answer->body.size() / 2 - 4));
      return fault.kind == FaultKind::kStalledAnswer;
    }
    default: break;
  }
  return SendAll(connection, answer->head) && SendAll(connection, answer->body);
}

}  // namespace batchweave
