#include "batchweave/format/keys.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

namespace batchweave {
namespace {

constexpr size_t kNameBytesMax = 100;
constexpr size_t kDecimalDigits = 20;  // As many as UINT64_MAX has: numbers of one width sort as text.
constexpr size_t kNonceDigits = 16;
constexpr std::string_view kPlaceholder = "_";
constexpr std::string_view kOpen = "open-";
constexpr std::array<std::string_view, 3> kArchiveKinds = {"entries", "index", "rows"};

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool IsName(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax || !IsAlphanumeric(name.front())) return false;
  for (const char c : name) {
    if (!IsAlphanumeric(c) && c != '.' && c != '_' && c != '-') return false;
  }
  return true;
}

// What comes before `prefix` is taken off the front of `text`; false where it is not there.
bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// A number of exactly `digits` digits of the base, in the one spelling that this software writes.
std::optional<uint64_t> TakeNumber(std::string_view& text, size_t digits, int base) {
  if (text.size() < digits) return std::nullopt;
  const std::string_view number = text.substr(0, digits);
  for (const char c : number) {
    if (c >= 'A' && c <= 'F') return std::nullopt;
  }
  uint64_t value = 0;
  const char* const first = number.data();
  const auto [end, error] = std::from_chars(first, first + digits, value, base);
  if (error != std::errc() || end != first + digits) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

std::optional<uint64_t> TakeDecimal(std::string_view& text) { return TakeNumber(text, kDecimalDigits, 10); }

// "-" and a nonce, and nothing after it.
std::optional<uint64_t> TakeLastNonce(std::string_view& text) {
  if (!TakePrefix(text, "-")) return std::nullopt;
  const std::optional<uint64_t> nonce = TakeNumber(text, kNonceDigits, 16);
  return text.empty() ? nonce : std::nullopt;
}

// "<name>/" is taken off the front of `text`.
std::optional<std::string> TakeName(std::string_view& text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || !IsName(text.substr(0, slash))) return std::nullopt;
  std::string name(text.substr(0, slash));
  text.remove_prefix(slash + 1);
  return name;
}

std::optional<ParsedKey> ParseManifest(std::string_view text) {
  const std::optional<uint64_t> number = TakeDecimal(text);
  if (!number || !text.empty()) return std::nullopt;
  const Version version{std::numeric_limits<uint64_t>::max() - *number};
  if (version == Version{0}) return std::nullopt;
  return ParsedKey{.kind = ParsedKey::Kind::kManifest, .version = version};
}

std::optional<ParsedKey> ParseArchive(std::string_view text) {
  const std::optional<uint64_t> version = TakeDecimal(text);
  if (!version || !TakePrefix(text, "-")) return std::nullopt;
  for (size_t kind = 0; kind < kArchiveKinds.size(); ++kind) {
    if (!TakePrefix(text, kArchiveKinds[kind])) continue;
    const std::optional<uint64_t> nonce = TakeLastNonce(text);
    if (!nonce) return std::nullopt;
    return ParsedKey{.kind = ParsedKey::Kind::kArchive,
                     .version = {*version},
                     .archive = static_cast<ArchiveRef::Kind>(kind),
                     .nonce = *nonce};
  }
  return std::nullopt;
}

// What data and intents share: "<producer>/<incarnation>-<seq>-<nonce>".
std::optional<ParsedKey> ParseBatch(ParsedKey::Kind kind, std::string_view text) {
  const std::optional<std::string> producer = TakeName(text);
  if (!producer) return std::nullopt;
  const std::optional<uint64_t> incarnation = TakeDecimal(text);
  if (!incarnation || !TakePrefix(text, "-")) return std::nullopt;
  const std::optional<uint64_t> seq = TakeDecimal(text);
  const std::optional<uint64_t> nonce = TakeLastNonce(text);
  if (!seq || !nonce) return std::nullopt;
  return ParsedKey{.kind = kind, .name = *producer, .incarnation = {*incarnation}, .seq = *seq, .nonce = *nonce};
}

std::optional<ParsedKey> ParseIntent(std::string_view text) {
  std::string_view rest = text;
  const std::optional<std::string> producer = TakeName(rest);
  if (!producer || !TakePrefix(rest, kOpen)) return ParseBatch(ParsedKey::Kind::kIntent, text);
  const std::optional<uint64_t> base = TakeDecimal(rest);
  const std::optional<uint64_t> nonce = TakeLastNonce(rest);
  if (!base || !nonce) return std::nullopt;
  return ParsedKey{.kind = ParsedKey::Kind::kOpening, .version = {*base}, .name = *producer, .nonce = *nonce};
}

std::optional<ParsedKey> ParseProgress(std::string_view text) {
  if (!IsName(text)) return std::nullopt;
  return ParsedKey{.kind = ParsedKey::Kind::kProgress, .name = std::string(text)};
}

}  // namespace

Result<void> CheckName(std::string_view what, std::string_view name) {
  if (IsName(name)) return {};
  // A name that is no name may be anything, of any length: it is shown only in part.
  std::string shown(name.substr(0, kNameBytesMax));
  for (char& c : shown) c = c >= ' ' && c <= '~' ? c : '?';
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} must be 1 to 100 of A-Z a-z 0-9 . _ - and begin with a letter or digit: name=\"{}\"{}",
                           what, shown, name.size() > kNameBytesMax ? "..." : "")};
}

std::string StreamKeys::StreamPrefix() const { return fmt::format("{}/{}/", name, ToString(stream_id)); }
std::string StreamKeys::ManifestPrefix() const { return StreamPrefix() + "manifest/"; }
std::string StreamKeys::ArchivePrefix() const { return StreamPrefix() + "archive/"; }
std::string StreamKeys::DataPrefix() const { return StreamPrefix() + "data/"; }
std::string StreamKeys::IntentPrefix() const { return StreamPrefix() + "intent/"; }
std::string StreamKeys::ProgressPrefix() const { return StreamPrefix() + "progress/"; }

std::string StreamKeys::Manifest(Version version) const {
  return fmt::format("{}{:020}", ManifestPrefix(), std::numeric_limits<uint64_t>::max() - version.value);
}

std::string StreamKeys::Archive(const ArchiveRef& ref) const {
  return fmt::format("{}{:020}-{}-{:016x}", ArchivePrefix(), ref.version.value,
                     kArchiveKinds[static_cast<size_t>(ref.kind)], ref.nonce);
}

std::string StreamKeys::Data(std::string_view producer, Incarnation incarnation, uint64_t seq, uint64_t nonce) const {
  return fmt::format("{}{}/{:020}-{:020}-{:016x}", DataPrefix(), producer, incarnation.value, seq, nonce);
}

std::string StreamKeys::Intent(std::string_view producer, Incarnation incarnation, uint64_t last_seq,
                               uint64_t nonce) const {
  return fmt::format("{}{}/{:020}-{:020}-{:016x}", IntentPrefix(), producer, incarnation.value, last_seq, nonce);
}

std::string StreamKeys::Opening(std::string_view producer, Version base, uint64_t nonce) const {
  return fmt::format("{}{}/{}{:020}-{:016x}", IntentPrefix(), producer, kOpen, base.value, nonce);
}

std::string StreamKeys::Progress(std::string_view group) const { return fmt::format("{}{}", ProgressPrefix(), group); }

std::string StreamJsonKey(std::string_view name) { return fmt::format("{}/stream.json", name); }

std::string ProbePrefix(std::string_view name, uint64_t nonce) { return fmt::format("{}/probe/{:016x}/", name, nonce); }

std::optional<ParsedKey> ParseKey(const StreamKeys& keys, std::string_view key) {
  std::string_view text = key;
  if (!TakePrefix(text, keys.StreamPrefix())) return std::nullopt;
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view folder = text.substr(0, slash);
  text.remove_prefix(slash + 1);
  const bool may_hold_placeholder = folder == "manifest" || folder == "archive" || folder == "intent";
  if (may_hold_placeholder && text == kPlaceholder) return ParsedKey{.kind = ParsedKey::Kind::kPlaceholder};
  if (folder == "manifest") return ParseManifest(text);
  if (folder == "archive") return ParseArchive(text);
  if (folder == "data") return ParseBatch(ParsedKey::Kind::kData, text);
  if (folder == "intent") return ParseIntent(text);
  if (folder == "progress") return ParseProgress(text);
  return std::nullopt;
}

bool NeverChanges(std::string_view key) {
  constexpr size_t kIdDigits = 32;
  const size_t name_end = key.find('/');
  if (name_end == std::string_view::npos) return false;
  std::string_view text = key.substr(name_end + 1);
  if (text.find('/') != kIdDigits || text.find_first_not_of("0123456789abcdef") != kIdDigits) return false;
  text.remove_prefix(kIdDigits + 1);
  if (TakePrefix(text, "data/")) return ParseBatch(ParsedKey::Kind::kData, text).has_value();
  return TakePrefix(text, "archive/") && ParseArchive(text).has_value();
}

}  // namespace batchweave
