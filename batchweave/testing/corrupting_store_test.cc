#include "batchweave/testing/corrupting_store.h"

#include <gtest/gtest.h>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

class CorruptingStoreTest : public ::testing::Test {
 protected:
  CorruptingStoreTest() {
    EXPECT_THAT(PutBytes(memory_, "a", AsBytes("@@@@"), PutMode::kCreate), IsOk());
    EXPECT_THAT(PutBytes(memory_, "b", AsBytes("@@@@"), PutMode::kCreate), IsOk());
  }

  static std::string ReadText(ObjectStore& store, std::string_view key) {
    return std::string(AsText(store.Read(key).value()));
  }

  MemoryStore memory_;
};

class Recorder final : public ReadObserver {
 public:
  void OnBytes(ByteView piece) override { seen += AsText(piece); }
  void OnRestart() override { seen.clear(); }
  std::string seen;
};

TEST_F(CorruptingStoreTest, SpoilsInEachWay) {
  CorruptingStore cut(memory_, {.kind = Corruption::Kind::kShort});
  CorruptingStore emptied(memory_, {.kind = Corruption::Kind::kEmpty});
  CorruptingStore flipped(memory_, {.kind = Corruption::Kind::kFlip, .position = 1});
  EXPECT_EQ(ReadText(cut, "a"), "@@@");
  EXPECT_EQ(ReadText(emptied, "a"), "");
  EXPECT_EQ(ReadText(flipped, "a"), "@A@@");
}

TEST_F(CorruptingStoreTest, SpoilsOnlyTheReadsThatAreMeant) {
  CorruptingStore store(memory_, {.kind = Corruption::Kind::kEmpty, .reads = 1, .filter = {.key = KeyContains("b")}});
  EXPECT_EQ(ReadText(store, "a"), "@@@@");
  EXPECT_EQ(ReadText(store, "b"), "");
  EXPECT_EQ(ReadText(store, "b"), "@@@@");
  EXPECT_EQ(store.corrupted(), 1u);
}

TEST_F(CorruptingStoreTest, TheObserverSeesWhatTheCallerGets) {
  CorruptingStore store(memory_, {.kind = Corruption::Kind::kFlip, .position = 3});
  Bytes buffer(10);
  Recorder recorder;
  ReadRequest request{.key = "a", .buffer = buffer, .observer = &recorder};
  ASSERT_THAT(store.Get({&request, 1}), IsOk());
  EXPECT_EQ(recorder.seen, "@@@A");
  EXPECT_EQ(AsText(ByteView(buffer).first(request.received_bytes)), "@@@A");
}

}  // namespace
}  // namespace batchweave
