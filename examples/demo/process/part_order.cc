#include "examples/demo/process/part_order.h"

#include <fmt/format.h>

#include <charconv>
#include <initializer_list>
#include <nlohmann/json.hpp>

namespace batchweave::demo {
namespace {

using Json = nlohmann::json;

Error NoSuchLine(std::string_view line) {
  return {ErrorCode::kCorrupt, fmt::format("not an order or an answer of a part: line={}", line)};
}

// An object that has all `texts` and `numbers`, so that nothing that is taken from it can be missing.
Result<Json> ParseObject(std::string_view line, std::initializer_list<const char*> texts,
                         std::initializer_list<const char*> numbers) {
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return NoSuchLine(line);
  for (const char* text : texts) {
    if (!json.contains(text) || !json[text].is_string()) return NoSuchLine(line);
  }
  for (const char* number : numbers) {
    if (!json.contains(number) || !json[number].is_number_unsigned()) return NoSuchLine(line);
  }
  return json;
}

Result<Bytes> FromHex(const std::string& text) {
  Bytes bytes(text.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    uint8_t value = 0;
    const char* digits = text.data() + 2 * i;
    const auto [end, cause] = std::from_chars(digits, digits + 2, value, 16);
    if (cause != std::errc() || end != digits + 2) return NoSuchLine(text);
    bytes[i] = std::byte{value};
  }
  return bytes;
}

}  // namespace

std::string ToLine(const PartOrder& order) {
  return Json{{"ticket", ToHex(EncodePartTicket(order.ticket))},
              {"dp_begin", order.range.dp_begin},
              {"dp_count", order.range.dp_count},
              {"cp_begin", order.range.cp_begin},
              {"cp_count", order.range.cp_count},
              {"cursor", order.cursor}}
      .dump();
}

std::string ToLine(const PartDone& done) {
  return Json{{"receipt", ToHex(EncodePartReceipt(done.receipt))},
              {"cursor", done.cursor},
              {"samples_ended", done.samples_ended}}
      .dump();
}

Result<PartOrder> ParsePartOrder(std::string_view line) {
  const Json json = BW_TRY(ParseObject(line, {"ticket", "cursor"}, {"dp_begin", "dp_count", "cp_begin", "cp_count"}));
  const Bytes ticket = BW_TRY(FromHex(json["ticket"]));
  return PartOrder{.ticket = BW_TRY(DecodePartTicket(ticket)),
                   .range = {.dp_begin = json["dp_begin"],
                             .dp_count = json["dp_count"],
                             .cp_begin = json["cp_begin"],
                             .cp_count = json["cp_count"]},
                   .cursor = json["cursor"]};
}

Result<PartDone> ParsePartDone(std::string_view line) {
  const Json json = BW_TRY(ParseObject(line, {"receipt", "cursor"}, {"samples_ended"}));
  const Bytes receipt = BW_TRY(FromHex(json["receipt"]));
  return PartDone{
      .receipt = BW_TRY(DecodePartReceipt(receipt)), .cursor = json["cursor"], .samples_ended = json["samples_ended"]};
}

}  // namespace batchweave::demo
