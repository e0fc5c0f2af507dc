#include "batchweave/lifecycle/reachable.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "batchweave/lifecycle/stored_bytes.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::StartsWith;

// "Table.field" of every table and struct of a schema.
std::set<std::string> FieldsOf(const std::string& schema) {
  std::ifstream file(std::string(BATCHWEAVE_SCHEMAS) + "/" + schema + ".fbs");
  EXPECT_TRUE(file.is_open()) << schema;
  const std::regex begin(R"(^(?:table|struct) (\w+) \{)");
  const std::regex field(R"(^\s*(\w+):)");
  std::set<std::string> fields;
  std::string table;
  std::smatch match;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_search(line, match, begin)) table = match[1];
    if (std::regex_search(line, match, field)) fields.insert(table + "." + match[1].str());
  }
  return fields;
}

// By these an object is named, or something that names objects: WalkReachable follows each.
const std::set<std::string> kWalked = {
    "Head.entries",
    "Rest.entries",
    "Rest.archives",
    "Rest.archived_rows",
    "Entry.producer",
    "Entry.incarnation",
    "Entry.seq",
    "Entry.whole",
    "Entry.parts",
    "PartOfGrid.object",
    "PartObject.nonce",
    "ArchiveRef.version",
    "ArchiveRef.nonce",
    "ArchiveRef.kind",
    "ArchivedEntries.entries",
    "ArchiveIndex.children",
    "ArchivedEntryOffsets.entries",
    "RestOffsets.entries",
    "RestOffsets.archives",
    "RestOffsets.archived_rows",
};

const std::set<std::string> kNotReferences = {
    "Head.stream_id",
    "Head.version",
    "Head.commit_id",
    "Head.previous_hash",
    "Head.reader_features",
    "Head.writer_features",
    "Head.first_step",
    "Head.next_step",
    "Head.sealed",
    "Head.deleted",
    "Head.groups",
    "Head.rest_bytes",
    "Head.rest_hash",
    "Rest.checkpoints",
    "Rest.quarantines",
    "Rest.rows",
    "RestOffsets.checkpoints",
    "RestOffsets.quarantines",
    "RestOffsets.rows",
    "Group.name",
    "Group.session",
    "Group.start",
    "Group.start_held",
    "Group.smallest_held",
    "Checkpoint.group",
    "Checkpoint.name",
    "Checkpoint.position",
    "Checkpoint.pinned",
    "Checkpoint.order",
    "Quarantine.first",
    "Quarantine.end",
    "Quarantine.reason",
    "Quarantine.set_at",
    "Quarantine.lifted_at",
    "ProducerRow.producer",
    "ProducerRow.incarnation",
    "ProducerRow.opening_nonce",
    "ProducerRow.seq",
    "ProducerRow.step",
    "ProducerRow.state",
    "ProducerRow.cursor",
    "ArchiveRef.first",
    "ArchiveRef.end",
    "ArchiveRef.object_bytes",
    "ArchiveRef.payload_bytes",
    "ArchiveRef.hash",
    "ArchiveRef.level",
    "Entry.dp",
    "Entry.cp",
    "Entry.digest",
    "Entry.content_type",
    "Entry.schema_hash",
    "Entry.samples",
    "Entry.committed_at_ns",
    "Entry.cursor",
    "Entry.metadata",
    "Entry.lengths",
    "PartObject.object_bytes",
    "PartObject.slice_bytes",
    "PartObject.footer_bytes",
    "PartObject.provenance_bytes",
    "PartOfGrid.range",
    "ArchivedEntries.stream_id",
    "ArchivedEntries.first",
    "ArchivedEntryOffsets.stream_id",
    "ArchivedEntryOffsets.first",
    "ArchiveIndex.stream_id",
    "ArchivedRows.stream_id",
    "ArchivedRows.rows",
    "Tombstone.version",
    "Tombstone.commit_id",
    "Tombstone.hash",
    "Tombstone.previous_hash",
};

// Covers D3.
TEST(ReachableSchemaTest, EveryFieldIsKnownToBeWalkedOrToReferToNothing) {
  std::set<std::string> known = kWalked;
  known.insert(kNotReferences.begin(), kNotReferences.end());
  std::set<std::string> found;
  for (const char* schema : {"manifest", "entry", "archive"}) found.merge(FieldsOf(schema));
  EXPECT_THAT(found, ElementsAreArray(known))
      << "a field was added or went: does it name an object? Then teach WalkReachable to follow it; in either case say "
         "here what it is";
}

class ReachableTest : public ::testing::Test {
 protected:
  ReachableTest() {
    stream_.Open("tok");
    stream_.Append("tok", 6);
    stream_.Archive(2);
    stream_.Archive(2);
    stream_.Fold();
    stream_.ArchiveRows();
  }

  std::map<std::string, uint64_t> Walk(const Manifest& manifest, Step end) {
    std::map<std::string, uint64_t> reached;
    EXPECT_THAT(WalkReachable(stream_.log(), manifest, end,
                              [&](const ReachedObject& object) -> Result<void> {
                                EXPECT_TRUE(reached.emplace(object.key, object.size_bytes).second);
                                return {};
                              }),
                IsOk());
    return reached;
  }

  // Everything in the store but stream.json and the versions.
  std::map<std::string, uint64_t> Stored() {
    std::map<std::string, uint64_t> stored;
    for (const std::string& prefix : {stream_.keys().DataPrefix(), stream_.keys().ArchivePrefix()}) {
      for (const std::string& key : stream_.Keys(prefix)) stored.emplace(key, *store_.Stat(key));
    }
    return stored;
  }

  MemoryStore store_;
  LiveStream stream_{store_};
};

// Covers D3.
TEST_F(ReachableTest, AllThatAStreamNamesIsReachedWithItsSize) {
  EXPECT_THAT(Walk(stream_.Newest(), stream_.Newest().next_step), ElementsAreArray(Stored()));
}

TEST_F(ReachableTest, WhatLiesWhollyBelowFirstStepIsNot) {
  std::map<std::string, uint64_t> expected = Stored();
  std::erase_if(expected, [&](const auto& object) {
    const auto key = *ParseKey(stream_.keys(), object.first);
    const bool first_entries =
        key.kind == ParsedKey::Kind::kArchive && key.archive == ArchiveRef::Kind::kEntries && key.version == Version{3};
    return first_entries || (key.kind == ParsedKey::Kind::kData && key.seq <= 3);
  });
  Manifest manifest = stream_.Newest();
  manifest.first_step = {3};
  EXPECT_THAT(Walk(manifest, manifest.next_step), ElementsAreArray(expected));
}

TEST_F(ReachableTest, TheKeysAreASetThatKnowsItsBytes) {
  const Result<ReachedKeys> reached = ReachedKeys::Of(stream_.log(), stream_.Newest());
  ASSERT_THAT(reached, IsOk());
  uint64_t bytes = 0;
  for (const auto& [key, size_bytes] : Stored()) {
    EXPECT_TRUE(reached->Contains(key));
    bytes += size_bytes;
  }
  EXPECT_EQ(reached->bytes(), bytes);
  EXPECT_EQ(reached->objects(), Stored().size());
  EXPECT_FALSE(reached->Contains(stream_.keys().Data("tok", {1}, 7, 1)));
}

// What a version reaches, what has leaked, what stays though nothing reaches it, and what is not ours are told apart.
// Covers I9.
TEST_F(ReachableTest, WhatIsStoredIsReachedOrLeakedOrStays) {
  const StoredBytes clean = *CountStored(stream_.log());
  EXPECT_EQ(clean.reached, ReachedKeys::Of(stream_.log(), stream_.Newest())->bytes());
  EXPECT_THAT(clean.leaked_keys, ::testing::IsEmpty());
  EXPECT_EQ(clean.not_understood, 0u);
  stream_.Upload("tok", {1}, 7);
  const std::string unknown = stream_.keys().StreamPrefix() + "what is it";
  ASSERT_THAT(PutBytes(store_, unknown, Bytes(3), PutMode::kCreate), IsOk());
  ASSERT_THAT(PutBytes(store_, stream_.keys().IntentPrefix() + "_", {}, PutMode::kCreate), IsOk());
  const StoredBytes stored = *CountStored(stream_.log());
  EXPECT_EQ(stored.reached, clean.reached);
  ASSERT_THAT(stored.leaked_keys, ElementsAre(StartsWith(stream_.keys().DataPrefix())));
  EXPECT_EQ(stored.leaked, *store_.Stat(stored.leaked_keys.front()));
  EXPECT_EQ(stored.not_understood, 1u);
}

TEST_F(ReachableTest, AnArchivedObjectThatIsGoneIsNotFound) {
  ASSERT_THAT(store_.Delete(stream_.Keys(stream_.keys().ArchivePrefix())), IsOk());
  EXPECT_THAT(ReachedKeys::Of(stream_.log(), stream_.Newest()), IsError(ErrorCode::kNotFound));
}

}  // namespace
}  // namespace batchweave
