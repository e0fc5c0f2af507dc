// Deliberate breaches of docs/protocol.md, one at a time, in the place where a plausible error would make them: they
// prove that the simulator's checkers can fail. There is none in what is shipped: outside the build of the mutants
// (preset "mutant") the active one is constantly kNone, and each BW_MUTATION(...) is constant false.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace batchweave {

// Name, the invariant that it should breach, what is wrong.
#define BW_MUTATIONS(X)                                                                                                \
  X(kUnknownTakenForWon, "I7", "a commit of unknown outcome is taken for won")                                         \
  X(kSeqNotChecked, "I5", "what the producer's row covers already is committed once more")                             \
  X(kUnknownTakenForLost, "I5", "a commit of unknown outcome is taken for lost, and its batches are committed as new") \
  X(kExistsTakenForOurs, "I7", "a slot that exists is taken for ours, without a look at the commit id")                \
  X(kRetryOverwrites, "I1", "after an unknown outcome the slot is written without the condition")                      \
  X(kCommitIdOfTheVersion, "I7", "the commit id is made of the version: racing committers have the same")              \
  X(kNewBodyForTheSlot, "I7", "after an unknown outcome other bytes go to the same slot, under the same commit id")    \
  X(kMovesOnWhileUndecided, "I2", "the next slot is tried on top of a commit that is undecided")                       \
  X(kTombstoneTakenForOurs, "I7", "a committer that finds a tombstone believes that it was its own version")           \
  X(kChainNotJoined, "I2", "a version carries the hash of its base's predecessor")                                     \
  X(kChangeNotRebased, "I2", "after a lost race a change is committed as it was made for the first base")              \
  X(kBatchesNotRebased, "I2", "the committer puts its batches on the base that it knew, under the newest number")      \
  X(kRetriesForEver, "I12", "what fails is tried again without a bound")                                               \
  X(kArchiveDropsAnEntry, "I3", "an archived object lacks the last entry that left the tail")                          \
  X(kArchiveOfALostVersion, "I4", "what was archived for a version that was lost is named by the next one")            \
  X(kIndexLacksARef, "I3", "an index lacks the last of the archived objects that it folds")                            \
  X(kTableOfOwnRowsAlone, "I5", "a table of rows is made of the rows that changed, without those of the last table")   \
  X(kRowGoesTooSoon, "I5", "a forgotten row goes as soon as its entries are trimmed")                                  \
  X(kIncarnationOfTheRow, "I6", "an incarnation is one more than the row's, and begins again where that has gone")     \
  X(kIncarnationNotChecked, "I6", "a producer's batches are taken under any incarnation")                              \
  X(kGoneTakenForCommitted, "I7", "an announcement that is gone is taken for committed, without a look at the row")    \
  X(kAnnouncesTheLastCursor, "I13", "a batch is announced with the cursor of the last one of its announcement")        \
  X(kOpeningOfAnyBase, "I13", "an announced opening is taken whatever has been opened since")                          \
  X(kAckBySeqAlone, "I7", "a fenced producer takes its successor's seq for its own acknowledgement")                   \
  X(kSealNotChecked, "I2", "batches are committed into a sealed stream")                                               \
  X(kCursorOutlivesItsBatch, "I5", "a cursor that a trim moved into the row stays there after later batches")          \
  X(kOpeningDoesNotFence, "I6", "an opening keeps the incarnation of the holder before")                               \
  X(kSeqBeginsAnew, "I5", "each opening begins at seq 1")                                                              \
  X(kCommitsBeforeUpload, "I4", "a version names batches that are still being uploaded")                               \
  X(kUnknownUploadTaken, "I4", "an upload of unknown outcome is taken for done")                                       \
  X(kFinishesTooEarly, "I7", "a producer is marked finished while batches of it are pending")                          \
  X(kLoserCleansUp, "I4", "who lost a race deletes the data that it wanted to commit")                                 \
  X(kReceiptOfAnyTicket, "I5", "receipts of other batches and of dropped tickets are accepted")                        \
  X(kPartsShareANonce, "I5", "every part of a ticket is written under the ticket's nonce: one key, other bytes")       \
  X(kOverwriteNotProbed, "I1", "versions are retired on a store that overwrites by removing and writing")              \
  X(kDeletesOldVersions, "I1", "old versions are deleted, not overwritten by tombstones")                              \
  X(kTombstoneForgetsItsCommit, "I1", "a tombstone has no commit id")                                                  \
  X(kRetiresTheNewest, "I1", "every version is retired, the newest too")                                               \
  X(kTrimToTheFastestGroup, "I8", "a trim goes by the group that has come farthest")                                   \
  X(kTrimForgetsCursors, "I5", "a trim does not move the cursors of what it trims into rows")                          \
  X(kTrimDropsOneMore, "I3", "a trim drops the entry of the first step that stays")                                    \
  X(kTrimLiftsQuarantines, "I2", "a trim drops all quarantines, not just those of the steps that go")                  \
  X(kSessionNotChecked, "I8", "whoever comes with a session that is over may checkpoint and release")                  \
  X(kSessionDropsCheckpoints, "I8", "a new session drops the checkpoints of those before")                             \
  X(kKeepLastByStep, "I8", "keep_last counts by step: after a rollback it drops the newest")                           \
  X(kKeepLastTakesPinned, "I8", "keep_last releases pinned checkpoints too")                                           \
  X(kQuarantineByNow, "I11", "a rank skips what is quarantined when it opens, not what its session skips")             \
  X(kReclaimByAnOldVersion, "I8", "reclaim judges all it lists by the version that it read first")                     \
  X(kReclaimTakesUploads, "I4", "reclaim deletes what is uploaded and not yet committed")                              \
  X(kReclaimReachesOnePart, "I8", "reclaim follows only the first part of an entry")                                   \
  X(kReclaimTakesTheFirstStep, "I8", "after a trim the data of the first step that stays is deleted too")              \
  X(kReclaimKeepsFenced, "I9", "uploads of fenced producers are never deleted")                                        \
  X(kReclaimKeepsCovered, "I9", "data of trimmed steps stays while its producer lives")                                \
  X(kReaderTakesItsNeighbours, "I11", "a rank along cp takes the slices of its neighbour")                             \
  X(kTrailersNotChecked, "I10", "a reader takes the bytes as they come")                                               \
  X(kTailTakenAsNext, "I10", "a reader takes the oldest entry of a tail for the step that it waits for")               \
  X(kFailedStepIsPassed, "I11", "a rank goes on behind a step that it could not read")                                 \
  X(kStallNotTold, "I12", "a reader waits for its next step beyond every limit")                                       \
  X(kProbeBelievesAnswers, "errors", "one damaged answer condemns the store")                                          \
  X(kHintNotToldAgain, "I12", "a trainer that waits does not tell again how far it is")                                \
  X(kDeletionNotTold, "errors", "what failed of a deleted stream is told as damage, or as a wait that may end")

enum class Mutation {
  kNone,
#define BW_ENUMERATOR(name, invariant, breach) name,
  BW_MUTATIONS(BW_ENUMERATOR)
#undef BW_ENUMERATOR
};

struct MutationInfo {
  Mutation mutation;
  std::string_view name;
  std::string_view invariant;
  std::string_view breach;
};

// All but kNone, in any build.
std::span<const MutationInfo> AllMutations();

std::string_view MutationName(Mutation mutation);
std::optional<Mutation> FindMutation(std::string_view name);

// Makes it the active one, for good: call it once, before any thread starts. False where this build has no mutants.
[[nodiscard]] bool SetMutation(Mutation mutation);

#ifdef BATCHWEAVE_MUTANTS
// A plain variable, as SetMutation alone writes it. With the fault point the only one in the library.
extern Mutation active_mutation;
#else
inline constexpr Mutation active_mutation = Mutation::kNone;
#endif

}  // namespace batchweave

#define BW_MUTATION(name) (::batchweave::active_mutation == ::batchweave::Mutation::name)

// For a check that would stop a mutant before a reader or a checker sees what it has done.
#define BW_ANY_MUTATION (::batchweave::active_mutation != ::batchweave::Mutation::kNone)
