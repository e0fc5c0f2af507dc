#include "batchweave/testing/conformance.h"

namespace batchweave {

void ObjectStoreConformance::SetUp() {
  under_test_ = GetParam().make();
  if (under_test_ == nullptr) GTEST_SKIP() << "this machine cannot have such a store";
}

Result<void> ObjectStoreConformance::Create(std::string_view key, std::string_view text) {
  return PutBytes(store(), key, AsBytes(text), PutMode::kCreate);
}

Result<void> ObjectStoreConformance::Overwrite(std::string_view key, std::string_view text) {
  return PutBytes(store(), key, AsBytes(text), PutMode::kOverwrite);
}

Result<std::string> ObjectStoreConformance::Read(std::string_view key) {
  return std::string(AsText(BW_TRY(store().Read(key))));
}

Result<std::string> ObjectStoreConformance::ReadRange(std::string_view key, uint64_t offset, size_t size) {
  std::string text(size, '?');
  ReadRequest request{.key = key, .offset = offset, .buffer = std::as_writable_bytes(std::span(text))};
  BW_TRY(store().Get({&request, 1}));
  text.resize(request.received_bytes);
  return text;
}

Result<std::vector<std::string>> ObjectStoreConformance::Keys(std::string_view prefix, size_t limit) {
  std::vector<std::string> keys;
  std::string start_after;
  do {
    ListPage page = BW_TRY(store().List(prefix, start_after, limit));
    EXPECT_LE(page.objects.size(), limit);
    for (ListedObject& object : page.objects) keys.push_back(std::move(object.key));
    start_after = std::move(page.next_start_after);
  } while (!start_after.empty());
  return keys;
}

}  // namespace batchweave
