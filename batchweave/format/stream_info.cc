#include "batchweave/format/stream_info.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "batchweave/base/hash.h"

namespace batchweave {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kStreamJsonBytesMax = size_t{64} << 10;  // Ours has 200: whatever is larger is not a stream.json.
constexpr std::string_view kWhat = "batchweave stream";   // The value of "format", for people who find the file.

Error Corrupt(std::string_view reason) {
  return {ErrorCode::kCorrupt, fmt::format("stream.json is damaged: {}", reason)};
}

// The value at `key` where it is a T, else null.
template <typename T>
const T* Find(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at == json.end() ? nullptr : at->get_ptr<const T*>();
}

std::optional<Hash128> ParseHex128(std::string_view text) {
  constexpr size_t kDigits = 16;
  Hash128 bits;
  if (text.size() != 2 * kDigits || text.find_first_not_of("0123456789abcdef") != text.npos) return std::nullopt;
  const char* const first = text.data();
  std::from_chars(first, first + kDigits, bits.high, 16);
  std::from_chars(first + kDigits, first + 2 * kDigits, bits.low, 16);
  return bits;
}

// The last member of the object is "check", XXH3-64 of all bytes before it: one flipped bit of the id would else lead
// into another stream, which nobody reads. Its place and its form stay as they are in every format to come.
constexpr std::string_view kCheck = "\"check\": ";

std::string CheckOf(std::string_view before) { return fmt::format("\"{:016x}\"\n}}\n", Hash64(AsBytes(before))); }

bool IsWhole(std::string_view text) {
  const size_t at = text.rfind(kCheck);
  return at != text.npos && text.substr(at + kCheck.size()) == CheckOf(text.substr(0, at));
}

}  // namespace

Bytes EncodeStreamInfo(const StreamInfo& info) {
  const Json json = {
      {"format", kWhat},         {"format_version", info.format_version}, {"stream_id", ToString(info.stream_id)},
      {"deleted", info.deleted}, {"created_at_ns", info.created_at_ns},
  };
  constexpr std::string_view kEnd = "\n}";
  std::string text = json.dump(2);
  text.replace(text.size() - kEnd.size(), kEnd.size(), ",\n  ");
  const std::string check = CheckOf(text);
  return ToBytes(text.append(kCheck).append(check));
}

Result<StreamInfo> DecodeStreamInfo(ByteView json) {
  if (json.size() > kStreamJsonBytesMax) return Corrupt(fmt::format("too long: bytes={}", json.size()));
  const std::string_view text = AsText(json);
  if (!IsWhole(text)) return Corrupt("its \"check\" is missing or does not fit");
  const Json parsed = Json::parse(text.begin(), text.end(), /*callback=*/nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return Corrupt("not a JSON object");

  const auto* what = Find<Json::string_t>(parsed, "format");
  if (what == nullptr || *what != kWhat) return Corrupt("no \"format\": \"batchweave stream\"");
  // Before anything else: a newer version may have changed all the rest.
  const auto* version = Find<Json::number_unsigned_t>(parsed, "format_version");
  if (version == nullptr || *version == 0) return Corrupt("no \"format_version\"");
  if (*version > kFormatVersion) {
    return Error{ErrorCode::kIncompatible,
                 fmt::format("the stream was written by newer software: format={} known={}", *version, kFormatVersion)};
  }
  const auto* id = Find<Json::string_t>(parsed, "stream_id");
  const std::optional<Hash128> bits = id == nullptr ? std::nullopt : ParseHex128(*id);
  if (!bits) return Corrupt("no \"stream_id\" of 32 lowercase hexadecimal digits");
  const auto* deleted = Find<Json::boolean_t>(parsed, "deleted");
  if (deleted == nullptr) return Corrupt("no \"deleted\"");
  const auto* created = Find<Json::number_integer_t>(parsed, "created_at_ns");
  if (created == nullptr) return Corrupt("no \"created_at_ns\"");
  return StreamInfo{.format_version = static_cast<uint32_t>(*version),
                    .stream_id = {*bits},
                    .deleted = *deleted,
                    .created_at_ns = *created};
}

}  // namespace batchweave
