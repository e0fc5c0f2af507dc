#include "examples/demo/data/text_source.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/base/check.h"
#include "examples/demo/data/files.h"
#include "examples/demo/data/utf8.h"

namespace batchweave::demo {
namespace {

// The length of the first piece of `text`, which goes on after its end.
uint64_t CutOf(std::string_view text) {
  const size_t line_end = text.rfind('\n');
  if (line_end != std::string_view::npos) return line_end + 1;
  // In valid UTF-8 a character ends at most three bytes before the end; in anything else any cut is as good.
  for (uint64_t cut = text.size(); cut + kLongestUtf8Bytes > text.size(); --cut) {
    const bool continues = cut < text.size() && (static_cast<uint8_t>(text[cut]) & 0xC0) == 0x80;
    const bool begins_inside = cut == text.size() && (static_cast<uint8_t>(text.back()) & 0x80) != 0;
    if (!continues && !begins_inside) return cut;
  }
  return text.size();
}

}  // namespace

TextSource::TextSource(TextSourceOptions options) : options_(std::move(options)) {
  BW_CHECK(options_.sample_bytes_max >= kLongestUtf8Bytes);
}

Result<std::vector<SampleRef>> TextSource::List() const {
  std::vector<SampleRef> refs;
  for (const SourceFile& file : BW_TRY(ListFiles(options_.root, options_.folder, ".txt"))) {
    BW_TRY(AppendPieces(file, refs));
  }
  return refs;
}

Result<void> TextSource::AppendPieces(const SourceFile& file, std::vector<SampleRef>& refs) const {
  uint64_t offset = 0;
  while (offset < file.size_bytes) {
    uint64_t size_bytes = file.size_bytes - offset;
    if (size_bytes > options_.sample_bytes_max) {
      const Bytes window = BW_TRY(
          ReadFileRange(options_.root + "/" + file.path, {.offset = offset, .size_bytes = options_.sample_bytes_max}));
      if (window.size() < options_.sample_bytes_max) {
        return Error{ErrorCode::kCorrupt, fmt::format("file got shorter: path={}", file.path)};
      }
      size_bytes = CutOf(AsText(window));
    }
    refs.push_back({.kind = SampleKind::kText, .path = file.path, .offset = offset, .size_bytes = size_bytes});
    offset += size_bytes;
  }
  return {};
}

Result<std::string> TextSource::Read(const SampleRef& ref) const {
  const Bytes bytes =
      BW_TRY(ReadFileRange(options_.root + "/" + ref.path, {.offset = ref.offset, .size_bytes = ref.size_bytes}));
  if (bytes.size() != ref.size_bytes) {
    return Error{ErrorCode::kCorrupt, fmt::format("file got shorter: path={}", ref.path)};
  }
  return ReplaceInvalidUtf8(AsText(bytes));
}

}  // namespace batchweave::demo
