#include "batchweave/store/object_store.h"

#include <fmt/format.h>

namespace batchweave {
namespace {

bool IsValidComponent(std::string_view component) {
  return !component.empty() && component.size() <= kKeyComponentBytesMax && component.front() != '.' &&
         component.find('\0') == std::string_view::npos;
}

}  // namespace

Result<void> PutBytes(ObjectStore& store, std::string_view key, ByteView bytes, PutMode mode) {
  return store.Put(key, {&bytes, 1}, mode);
}

bool IsValidKey(std::string_view key) {
  if (key.size() > kKeyBytesMax) return false;
  for (size_t begin = 0;;) {
    const size_t end = key.find('/', begin);
    if (!IsValidComponent(key.substr(begin, end - begin))) return false;
    if (end == std::string_view::npos) return true;
    begin = end + 1;
  }
}

Result<void> CheckKey(std::string_view key) {
  if (IsValidKey(key)) return {};
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("not a key (components of 1 to {} bytes between single slashes, none beginning with a dot, "
                           "{} bytes in all): key={}",
                           kKeyComponentBytesMax, kKeyBytesMax, key)};
}

}  // namespace batchweave
