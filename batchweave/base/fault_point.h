// Places where a death or a stop of the process hurts most. In the build of the mutants (preset "mutant") a process may
// be told to end or to stop itself at one of them, so that tests/fault_points_test.cc can show on real processes what
// the simulator shows on simulated ones. In what is shipped there is nothing of it: no label, no call, no variable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace batchweave {

// Label, where it is.
#define BW_FAULT_POINTS(X)                                                                                     \
  X("create.probed", "a stream's creator has tried the store, and stream.json is not written")                 \
  X("create.written", "stream.json is written, and its creator not told")                                      \
  X("probe.created", "a probe has made its object")                                                            \
  X("overwrite_probe.created", "a probe of overwrites has made its object")                                    \
  X("opening.made", "an opening is made, and not committed")                                                   \
  X("opening.announced", "an opening is announced, and nobody has taken it")                                   \
  X("opening.committed", "an opening is committed, and its holder not told")                                   \
  X("upload.done", "a batch is uploaded, and its producer does not know it")                                   \
  X("part.written", "a part is written, and there is no receipt for it")                                       \
  X("archive.written", "an archived object is written, and no version names it")                               \
  X("commit.frozen", "a commit has its bytes, and was not sent")                                               \
  X("commit.sent", "the put of a commit has come back, and its answer was not looked at")                      \
  X("commit.undecided", "a commit is undecided, and its slot was not read back")                               \
  X("batches.announced", "batches are announced, and nobody has taken them")                                   \
  X("batches.committed", "batches are committed, and not acknowledged")                                        \
  X("session.committed", "a session is committed, and its job not told")                                       \
  X("checkpoint.registered", "a checkpoint is registered, and what it lets go of still there")                 \
  X("progress.told", "a hint of progress is told")                                                             \
  X("step.located", "a rank knows where its step lies, and has not read it")                                   \
  X("reclaim.listed", "a reclaimer has listed, and not read the newest version")                               \
  X("reclaim.judged", "a reclaimer knows by which version it judges, and has deleted nothing of it")           \
  X("reclaim.kept", "the placeholders are there, and what is dead is not deleted")                             \
  X("reclaim.swept", "what is dead is deleted, and no version retired")                                        \
  X("reclaim.overwrite_probed", "overwrites are tried, and no version retired")                                \
  X("reclaim.retired", "a version is retired, and the next one not")                                           \
  X("trimmed.data_deleted", "the data of trimmed steps is deleted, and not the archived objects that name it") \
  X("delete.committed", "a stream's last version is committed, and stream.json not marked")                    \
  X("delete.marked", "stream.json is marked, and nothing removed")                                             \
  X("delete.data_removed", "all but the versions of a stream is removed")                                      \
  X("file.written", "a file has its bytes, and no name")                                                       \
  X("file.placed", "a file has its name, and whoever put it is not told")                                      \
  X("file.deleted", "of several files to delete the first is gone")

#ifdef BATCHWEAVE_MUTANTS

struct FaultPointInfo {
  std::string_view label;
  std::string_view place;
};
std::span<const FaultPointInfo> AllFaultPoints();

// What happens the nth time that the process reaches the point; the first is 1.
struct FaultPoint {
  std::string_view label;
  uint64_t nth = 1;
  bool stop = false;  // SIGSTOP, else SIGKILL: sent by the process to itself.
};

// "label[:nth][:stop]"; none where it is no such thing, or no such label.
std::optional<FaultPoint> ParseFaultPoint(std::string_view text);

// Takes the place of what the variable BATCHWEAVE_FAULT_POINT says, for good: call it once, in a forked child, before any
// thread starts. `text` as above; false where it is not.
[[nodiscard]] bool SetFaultPoint(std::string_view text);

// For the macro.
void ReachFaultPoint(std::string_view label);

// Does not compile where the label is none of the list: what is called then is no constant.
void NoSuchFaultPoint();
consteval std::string_view CheckedFaultPoint(std::string_view label) {
#define BW_IS_LABEL(known, place) \
  if (label == (known)) return label;
  BW_FAULT_POINTS(BW_IS_LABEL)
#undef BW_IS_LABEL
  NoSuchFaultPoint();
  return {};
}

#define BW_FAULT_POINT(label) ::batchweave::ReachFaultPoint(::batchweave::CheckedFaultPoint(label))

#else
#define BW_FAULT_POINT(label) static_cast<void>(0)
#endif

}  // namespace batchweave
