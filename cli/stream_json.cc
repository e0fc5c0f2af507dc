#include "cli/stream_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/text.h"

namespace batchweave::cli {

void AddBytes(Json& json, const std::string& name, ByteView bytes) {
  if (IsPrintableUtf8(bytes)) json[name + "_text"] = AsText(bytes);
  json[name + "_hex"] = ToHex(bytes);
}

double UnixSeconds(int64_t since_1970_ns) { return static_cast<double>(since_1970_ns) / 1e9; }

Json EntryJson(Step step, const Entry& entry) {
  Json json = {{"step", step.value},
               {"producer", entry.producer},
               {"incarnation", entry.incarnation.value},
               {"seq", entry.seq},
               {"committed_at", UnixSeconds(entry.committed_at_ns)},
               {"dp", entry.grid.dp},
               {"cp", entry.grid.cp},
               {"payload_bytes", PayloadBytes(entry)},
               {"samples", entry.samples},
               {"content_type", entry.content_type}};
  AddBytes(json, "cursor", entry.cursor);
  AddBytes(json, "metadata", entry.metadata);
  json["digest"] = ToHex(entry.digest);
  json["schema_hash"] = fmt::format("{:016x}", entry.schema_hash);
  return json;
}

Json StreamJson(const StreamDescription& stream) {
  const Manifest& manifest = stream.newest.manifest;
  Json json = {{"name", stream.name},
               {"stream_id", ToString(stream.info.stream_id)},
               {"created_at", UnixSeconds(stream.info.created_at_ns)},
               {"version", manifest.version.value},
               {"first_step", manifest.first_step.value},
               {"next_step", manifest.next_step.value},
               {"sealed", manifest.sealed},
               {"payload_bytes", stream.payload_bytes},
               {"samples", stream.samples ? Json(*stream.samples) : Json()}};
  const Entry* newest = stream.newest_entry();
  json["newest_committed_at"] = newest == nullptr ? Json() : Json(UnixSeconds(newest->committed_at_ns));
  json["newest_producer"] = newest == nullptr ? Json() : Json(newest->producer);
  return json;
}

}  // namespace batchweave::cli
