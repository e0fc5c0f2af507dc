#include "sim/client_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/process.h"

namespace batchweave::sim {
namespace {

// The share of whole reads that a store makes of several requests.
constexpr double kSplitReads = 0.1;
constexpr double kSleepsAfterLoss = 0.2;
constexpr double kSleepsInRead = 0.05;

Error Failure(ErrorCode code, std::string_view subject) {
  return {code, fmt::format("simulated: {}: {}", ErrorCodeName(code), subject)};
}

Error NoObject(std::string_view key) { return {ErrorCode::kNotFound, fmt::format("no such object: key={}", key)}; }

std::string_view Outcome(const Error& error) { return ErrorCodeName(error.code); }

// What comes of `object` on its way, by its fault.
SharedBytes Damaged(const SharedBytes& object, FaultKind fault, Random& random) {
  auto damaged = std::make_shared<Bytes>(*object);
  if (damaged->empty() || fault == FaultKind::kEmptyBody) return std::make_shared<Bytes>();
  const size_t place = random.Next() % damaged->size();
  if (fault == FaultKind::kShortBody) {
    damaged->resize(place);
  } else {
    (*damaged)[place] ^= std::byte{static_cast<uint8_t>(1U << (random.Next() % 8))};
  }
  return damaged;
}

}  // namespace

bool ClientStore::AwaitAnswer(SimTime until) {
  while (machine_.scheduler.now() < until && !process_.dead()) machine_.scheduler.SuspendUntil(until);
  return !process_.dead();
}

template <typename T>
Result<T> ClientStore::Send(const char* verb, std::string_view subject, const Fate& fate,
                            const std::function<Result<T>()>& effect) {
  Scheduler& scheduler = machine_.scheduler;
  if (process_.dead()) {
    process_.YieldDead();
    process_.clock().Leap(std::chrono::seconds(1));
    return Failure(ErrorCode::kUnavailable, subject);
  }
  const SimTime sent = scheduler.now();
  auto request = std::make_shared<Request<T>>();
  const auto apply = [request, effect](bool answers) {
    Result<T> result = effect();
    if (answers) request->answer = std::move(result);
  };
  if (fate.applied_after) {
    scheduler.At(sent + *fate.applied_after, [apply] { apply(/*answers=*/true); });
  }
  if (fate.applied_again_after) {
    scheduler.At(sent + *fate.applied_again_after, [apply, answers = fate.answers_second] { apply(answers); });
  }
  const bool answered = AwaitAnswer(sent + fate.answered_after);
  Result<T> answer = Failure(fate.failure.value_or(ErrorCode::kUnavailable), subject);
  if (answered && !fate.failure && request->answer) answer = *std::move(request->answer);
  machine_.trace.Add(scheduler.now(), process_.name(), verb, subject,
                     !answered     ? std::string_view("killed meanwhile")
                     : answer.ok() ? std::string_view("ok")
                                   : Outcome(answer.error()));
  return answer;
}

Result<void> ClientStore::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  BW_TRY(CheckKey(key));
  const auto bytes = std::make_shared<const Bytes>(Join(pieces));
  const Fate fate = machine_.network.FateOf(CallOf(mode), key, bytes->size());
  if (mode == PutMode::kOverwrite && machine_.server.removes_to_overwrite() && fate.applied_after && !process_.dead()) {
    machine_.scheduler.At(machine_.scheduler.now() + *fate.applied_after / 2,
                          [&server = machine_.server, name = std::string(key)] { server.Delete(name); });
  }
  Result<void> put = Send<void>(
      mode == PutMode::kCreate ? "creates" : "overwrites", key, fate,
      [&server = machine_.server, name = std::string(key), bytes, mode] { return server.Put(name, bytes, mode); });
  if (put.ok()) machine_.server.Acknowledge(key);
  if (mode != PutMode::kCreate) return put;
  // A commit is open, or was lost: when this process looks again, everything may have changed.
  if (FailedWith(put, ErrorCode::kUnknownOutcome)) machine_.at_worst_moment(process_, 1);
  if (FailedWith(put, ErrorCode::kAlreadyExists)) machine_.at_worst_moment(process_, kSleepsAfterLoss);
  return put;
}

Result<SharedBytes> ClientStore::Fetch(std::string_view key, StoreCall call, const Fate& fate) {
  if (fate.body_fault) process_.OnDamage();
  return Send<SharedBytes>(call == kCallGet ? "gets" : "reads", key, fate,
                           [this, name = std::string(key), fault = fate.body_fault]() -> Result<SharedBytes> {
                             SharedBytes object = machine_.server.Read(name);
                             if (object == nullptr) return NoObject(name);
                             if (fault) return Damaged(object, *fault, machine_.network.random());
                             return object;
                           });
}

Result<void> ClientStore::Get(std::span<ReadRequest> requests) {
  // One after the other: overlapping them would show the library nothing that it could not see so.
  for (ReadRequest& request : requests) {
    BW_TRY(CheckKey(request.key));
    Fate fate = machine_.network.FateOf(kCallGet, request.key, request.buffer.size());
    const std::optional<FaultKind> fault = std::exchange(fate.body_fault, std::nullopt);
    const SharedBytes object = BW_TRY(Fetch(request.key, kCallGet, fate));
    ReadRange(*object, request);
    request.done = true;
    if (!fault || request.received_bytes == 0) continue;
    // Damaged is what was asked for, not the object.
    process_.OnDamage();
    const auto range = request.buffer.first(request.received_bytes);
    const auto read = std::make_shared<const Bytes>(range.begin(), range.end());
    if (request.observer != nullptr) request.observer->OnRestart();
    ReadRequest again = request;
    again.offset = 0;
    ReadRange(*Damaged(read, *fault, machine_.network.random()), again);
    request.received_bytes = again.received_bytes;
  }
  return {};
}

Result<Bytes> ClientStore::Read(std::string_view key) {
  BW_TRY(CheckKey(key));
  const SharedBytes size = machine_.server.Find(key);
  const auto fetch = [&] {
    return Fetch(key, kCallRead, machine_.network.FateOf(kCallRead, key, size == nullptr ? 0 : size->size()));
  };
  const SharedBytes object = BW_TRY(fetch());
  if (NextUnit(machine_.network.random()) >= kSplitReads) return *object;
  // As two requests: what was overwritten between them is torn.
  machine_.at_worst_moment(process_, kSleepsInRead);
  const SharedBytes later = BW_TRY(fetch());
  const auto half = static_cast<std::ptrdiff_t>(std::min(object->size(), later->size()) / 2);
  Bytes read(object->begin(), object->begin() + half);
  read.insert(read.end(), later->begin() + half, later->end());
  return read;
}

Result<uint64_t> ClientStore::Stat(std::string_view key) {
  BW_TRY(CheckKey(key));
  const Fate fate = machine_.network.FateOf(kCallStat, key, 0);
  return Send<uint64_t>("stats", key, fate, [this, name = std::string(key)]() -> Result<uint64_t> {
    const SharedBytes object = machine_.server.Read(name);
    if (object == nullptr) return NoObject(name);
    return object->size();
  });
}

Result<ListPage> ClientStore::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  const Fate fate = machine_.network.FateOf(kCallList, prefix, 0);
  const SimTime asked_at = machine_.scheduler.now();
  // A server gives no more than 1000 keys at once, and with few keys none of it would ever need a second page.
  const size_t page = std::min<size_t>(limit, 20 + machine_.network.random().Next() % 200);
  return Send<ListPage>("lists", prefix, fate,
                        [this, asked_at, page, prefix = std::string(prefix), start_after = std::string(start_after)] {
                          const auto coin = [&] { return machine_.network.random().Next() % 2 == 0; };
                          return Result<ListPage>(machine_.server.List(prefix, start_after, page, asked_at, coin));
                        });
}

Result<void> ClientStore::Delete(std::span<const std::string> keys) {
  // Each key is a request of its own, so that any part of them may be gone when one fails.
  for (const std::string& key : keys) {
    BW_TRY(CheckKey(key));
    const Fate fate = machine_.network.FateOf(kCallDelete, key, 0);
    BW_TRY(Send<void>("deletes", key, fate, [&server = machine_.server, key]() -> Result<void> {
      server.Delete(key);
      return {};
    }));
  }
  return {};
}

}  // namespace batchweave::sim
