// A key that is understood is spelled as this software spells it: so no other key is ever taken for one that may be
// deleted.
#include <cstddef>
#include <cstdint>
#include <string>

#include "batchweave/base/bytes.h"
#include "batchweave/base/check.h"
#include "batchweave/format/keys.h"

namespace batchweave {
namespace {

std::string Spelled(const StreamKeys& keys, const ParsedKey& parsed) {
  switch (parsed.kind) {
    case ParsedKey::Kind::kManifest: return keys.Manifest(parsed.version);
    case ParsedKey::Kind::kArchive:
      return keys.Archive({.kind = parsed.archive, .version = parsed.version, .nonce = parsed.nonce});
    case ParsedKey::Kind::kData: return keys.Data(parsed.name, parsed.incarnation, parsed.seq, parsed.nonce);
    case ParsedKey::Kind::kIntent: return keys.Intent(parsed.name, parsed.incarnation, parsed.seq, parsed.nonce);
    case ParsedKey::Kind::kOpening: return keys.Opening(parsed.name, parsed.version, parsed.nonce);
    case ParsedKey::Kind::kProgress: return keys.Progress(parsed.name);
    case ParsedKey::Kind::kPlaceholder: return "";
  }
  BW_CHECK(false);
}

}  // namespace
}  // namespace batchweave

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using batchweave::ParsedKey;
  const batchweave::StreamKeys keys{.name = "run", .stream_id = {}};
  const std::string key = keys.StreamPrefix() + std::string(reinterpret_cast<const char*>(data), size);
  const std::optional<ParsedKey> parsed = batchweave::ParseKey(keys, key);
  if (parsed && parsed->kind != ParsedKey::Kind::kPlaceholder) BW_CHECK(batchweave::Spelled(keys, *parsed) == key);
  return 0;
}
