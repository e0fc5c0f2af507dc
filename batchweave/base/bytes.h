// Bytes and views of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace batchweave {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;
using MutableByteView = std::span<std::byte>;

inline ByteView AsBytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
inline std::string_view AsText(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
inline Bytes ToBytes(std::string_view text) { return {AsBytes(text).begin(), AsBytes(text).end()}; }

// Lowercase hexadecimal, two digits a byte.
std::string ToHex(ByteView bytes);

// `pieces` one after the other in one allocation.
Bytes Join(std::span<const ByteView> pieces);

// The bytes of all `pieces` together.
uint64_t TotalSize(std::span<const ByteView> pieces);

// "17 bytes", "1.5 MiB": for people; JSON gives plain numbers.
std::string HumanSize(uint64_t size_bytes);

}  // namespace batchweave
