#include "batchweave/producer/announced_reader.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "batchweave/log/dead_keys.h"
#include "batchweave/log/producer_rows.h"

namespace batchweave {
namespace {

constexpr size_t kPageObjects = 1000;  // What a cloud store gives at most.

bool IsAnnouncement(const ParsedKey& key) {
  return key.kind == ParsedKey::Kind::kIntent || key.kind == ParsedKey::Kind::kOpening;
}

// The later incarnation, and of one incarnation the announcement that goes further: it has all that the others have.
bool IsNewer(const ParsedKey& a, const ParsedKey& b) {
  return std::pair(a.incarnation, a.seq) > std::pair(b.incarnation, b.seq);
}

}  // namespace

Result<bool> AnnouncedReader::List(const std::unordered_set<std::string>& own,
                                   const std::function<bool(size_t)>& goes_on) {
  listed_.clear();
  bool is_first = true;
  std::string start_after;
  do {
    ListPage page = BW_TRY(log_.env().store.List(log_.keys().IntentPrefix(), start_after, kPageObjects));
    for (ListedObject& object : page.objects) {
      std::optional<ParsedKey> parsed = ParseKey(log_.keys(), object.key);
      if (!parsed || !IsAnnouncement(*parsed) || own.contains(parsed->name)) continue;
      listed_.push_back({.key = std::move(object.key), .parsed = *std::move(parsed), .size_bytes = object.size_bytes});
    }
    if (std::exchange(is_first, false) && !goes_on(listed_.size())) {
      listed_.clear();
      return false;
    }
    start_after = std::move(page.next_start_after);
  } while (!start_after.empty());
  return true;
}

// In an order of chance, so that where there is too much nobody waits for ever.
std::vector<const AnnouncedReader::Listed*> AnnouncedReader::Choose() const {
  std::vector<const Listed*> chosen;
  std::unordered_map<std::string_view, const Listed*> newest;
  for (const Listed& listed : listed_) {
    if (listed.parsed.kind == ParsedKey::Kind::kOpening) {
      chosen.push_back(&listed);
      continue;
    }
    const Listed*& known = newest[listed.parsed.name];
    if (known == nullptr || IsNewer(listed.parsed, known->parsed)) known = &listed;
  }
  for (const auto& [name, listed] : newest) chosen.push_back(listed);
  std::ranges::sort(chosen, {}, [](const Listed* listed) -> const std::string& { return listed->key; });
  if (chosen.empty()) return chosen;
  std::ranges::rotate(chosen, chosen.begin() + static_cast<std::ptrdiff_t>(log_.env().random.Next() % chosen.size()));
  uint64_t bytes = 0;
  const auto fits = [&](const Listed* listed) { return (bytes += listed->size_bytes) <= kAnnouncedBytesMax; };
  chosen.erase(std::ranges::find_if_not(chosen, fits), chosen.end());
  return chosen;
}

Result<std::optional<Announced>> AnnouncedReader::Read() {
  const std::vector<const Listed*> chosen = Choose();
  std::vector<Bytes> buffers;
  std::vector<ReadRequest> requests;
  for (const Listed* listed : chosen) buffers.emplace_back(listed->size_bytes);
  for (size_t i = 0; i < chosen.size(); ++i) requests.push_back({.key = chosen[i]->key, .buffer = buffers[i]});
  const Result<void> read = requests.empty() ? Result<void>() : log_.env().store.Get(requests);
  if (FailedWith(read, ErrorCode::kNotFound)) return std::optional<Announced>();
  BW_TRY(read);
  Announced announced;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const ByteView object = ByteView(buffers[i]).first(requests[i].received_bytes);
    const ParsedKey& key = chosen[i]->parsed;
    if (key.kind == ParsedKey::Kind::kOpening) {
      Result<OpeningIntent> opening = DecodeOpeningIntent(object);
      if (opening.ok() && opening->stream_id == log_.keys().stream_id && opening->producer == key.name) {
        announced.openings.push_back(*std::move(opening));
      }
      continue;
    }
    Result<BatchIntent> intent = DecodeBatchIntent(object);
    if (intent.ok() && intent->stream_id == log_.keys().stream_id && intent->producer == key.name) {
      announced.batches.push_back(*std::move(intent));
    }
  }
  return std::optional(std::move(announced));
}

Result<std::optional<Announced>> AnnouncedReader::ReadFor(CommitLaw& law, TimePoint began,
                                                          const std::unordered_set<std::string>& own) {
  const Env env = log_.env();
  const auto goes_on = [&](size_t found) { return law.GoesOn(env.clock.Now(), found, NextUnit(env.random)); };
  if (!BW_TRY(List(own, goes_on))) return std::optional<Announced>();
  std::optional<Announced> read = BW_TRY(Read());
  if (!read) law.OnAttempt({.began = began, .ended = env.clock.Now()}, NextUnit(env.random));
  return read;
}

std::vector<std::string> AnnouncedReader::Producers() const {
  std::vector<std::string> names;
  for (const Listed& listed : listed_) names.push_back(listed.parsed.name);
  return names;
}

std::vector<std::string> AnnouncedReader::Dead(const Manifest& manifest) const {
  std::vector<std::string> dead;
  for (const Listed& listed : listed_) {
    if (IsIntentDead(manifest, FindRow(manifest, listed.parsed.name), listed.parsed)) dead.push_back(listed.key);
  }
  return dead;
}

}  // namespace batchweave
