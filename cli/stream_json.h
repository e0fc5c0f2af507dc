// How streams, entries and bytes look in JSON: plain numbers, times in seconds since 1970, hashes and ids in hexadecimal.
#pragma once

#include <string>

#include "batchweave/base/bytes.h"
#include "batchweave/format/entry.h"
#include "batchweave/stream/describe.h"
#include "cli/console.h"

namespace batchweave::cli {

// Adds `name`_hex, and `name`_text where the bytes are UTF-8 that can be shown.
void AddBytes(Json& json, const std::string& name, ByteView bytes);

// Seconds with fractions.
double UnixSeconds(int64_t since_1970_ns);

// One step as tail shows it, and show --step begins.
Json EntryJson(Step step, const Entry& entry);

// One stream as ls shows it, and show begins.
Json StreamJson(const StreamDescription& stream);

}  // namespace batchweave::cli
