// A stream in a directory, what processes do with it until they reach a fault point, and what must hold afterwards.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/store/env.h"
#include "batchweave/store/local_store.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/child_process.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/temporary_directory.h"

namespace batchweave {

// Of the stream "run" with one source, the producer "a": step n holds the text of n + 1.
inline constexpr uint64_t kBatchesBefore = 80;     // Committed before any process reaches a point, one version each.
inline constexpr uint64_t kBatchesMeanwhile = 70;  // By a successor: more than the versions that are never retired.
inline constexpr uint64_t kBatchesInAll = 170;

class FaultWorld {
 public:
  std::string store() const { return directory_.path() + "/store"; }
  std::string stream(std::string_view name = "run") const { return store() + "/" + std::string(name); }
  // Beside the store: what a process has to tell its successor.
  std::string note(std::string_view name) const { return directory_.path() + "/" + std::string(name); }

  FaultWorld();                               // The stream, a group that holds a part of it, one archived object.
  explicit FaultWorld(const FaultWorld& of);  // The same objects again, in a directory of its own.
  FaultWorld& operator=(const FaultWorld&) = delete;

 private:
  TemporaryDirectory directory_;
};

// What one process has: the directory, the system's clock, chance and threads, and perhaps a lost answer.
class FaultProcess {
 public:
  explicit FaultProcess(const FaultWorld& world, Fault fault = {});
  Env env() { return {.store = store_, .clock = clock_, .random = random_, .threads = threads_}; }

 private:
  std::unique_ptr<ObjectStore> local_;
  FaultyStore store_;
  SystemClock clock_;
  SystemRandom random_;
  SystemThreads threads_;
};

// Whatever a process does in these tests: to its end, or an error.
using Work = std::function<Result<void>(const FaultWorld& world, Env env)>;

// Publishes from the committed cursor: three batches one by one, the others together, each acknowledgement noted; finishes.
Result<void> PublishAll(const FaultWorld& world, Env env);
// The same of a source that loses the races for its opening and for its first batch, and announces them.
Result<void> PublishAllOutrun(const FaultWorld& world, Env env);
// Leaves a note of a ticket, for WriteTheParts.
Result<void> TakeTicket(const FaultWorld& world, Env env);
Result<void> WriteTheParts(const FaultWorld& world, Env env);
// A session of the group: reads three steps, tells how far it is, registers a checkpoint near the end, reclaims.
Result<void> Train(const FaultWorld& world, Env env);
// A checkpoint near the end, by which most of the stream and its archived object die.
Result<void> LetGo(const FaultWorld& world, Env env);
// What a successor does while a process sleeps: takes the producer's name and commits, takes the group's session, trims,
// retires versions and reclaims.
Result<void> Succeed(const FaultWorld& world, Env env);

// Runs `work` in a forked child, or the command with these arguments, with a fault point (none where empty). The exit code
// is the command's, or that of the error.
ChildProcess StartWork(const FaultWorld& world, const Work& work, const std::string& point, const Fault& fault = {});
ChildProcess StartCommand(const std::vector<std::string>& arguments, const std::string& point);

// The slots of the stream "run", by their keys.
std::map<std::string, Bytes> Slots(const FaultWorld& world);
// The number in a note of a source: of the batch "acknowledged" last, and of that before the first of the last holder of
// its name, who "opened" it there.
uint64_t Noted(const FaultWorld& world, std::string_view name);
// I1: what was there is there still, changed into its tombstone at most.
void ExpectSlotsAreTaken(const FaultWorld& world, const std::map<std::string, Bytes>& before);
// I7: what a process has noted as acknowledged is committed.
void ExpectNotedIsCommitted(const FaultWorld& world);
// Lets the source come to its end, reclaims in quiet; then: each batch once and in order, every byte and version as it
// should be, stored what is reached and nothing else.
void ExpectWholeAtTheEnd(const FaultWorld& world);

}  // namespace batchweave
