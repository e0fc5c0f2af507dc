#include "examples/demo/data/testing/small_corpus.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "batchweave/base/check.h"
#include "examples/demo/data/files.h"
#include "examples/demo/data/testing/png_writer.h"
#include "examples/demo/data/tokenizer_training.h"

namespace batchweave::demo {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPictures = "raw/usr/share/tuxpaint/stamps";

void WritePicture(const TemporaryFolder& folder, const std::string& name, const PngShape& shape) {
  const Bytes png = WritePng(shape, [&](uint32_t x, uint32_t y, uint32_t sample) {
    return (x * 7 + y * 13 + sample * 5) % (1u << shape.bit_depth);
  });
  folder.Write(fmt::format("{}/{}.png", kPictures, name), png);
}

std::string DictionaryText() {
  std::string text;
  for (int entry = 0; text.size() < 50'000; ++entry) {
    text += fmt::format("Word{}\n   A word, the {}th of {}, that is of use to nobody \u2014 na\u00EFve.\n\n", entry,
                        entry * entry, entry % 17);
    if (entry == 100)
      text +=
          "   fa\xE7"
          "ade, in Latin-1\n";
  }
  return text;
}

Tokenizer TrainSmall(const Corpus& corpus) {
  const Bytes model = TrainTokenizer(corpus, {.text_bytes_max = 60'000, .vocabulary = 500}).value();
  return Tokenizer::Load(model).value();
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "demo-test-XXXXXX").string();
  BW_CHECK(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TemporaryFolder::Write(const std::string& name, ByteView content) const {
  const fs::path path = fs::path(path_) / name;
  std::error_code cause;
  fs::create_directories(path.parent_path(), cause);
  BW_CHECK(!cause);
  ReplaceFile(path.string(), content).value();
}

void SmallCorpus::Fill(const TemporaryFolder& folder) {
  WritePicture(folder, "animals/cat", {.width = 40, .height = 33, .color_type = 6});
  WritePicture(folder, "animals/cartoon/cat", {.width = 16, .height = 16, .color_type = 2});
  WritePicture(folder, "food/pear", {.width = 90, .height = 70, .color_type = 3, .bit_depth = 4});
  WritePicture(folder, "food/plum", {.width = 1, .height = 100, .color_type = 0, .bit_depth = 1});
  WritePicture(folder, "space/moon", {.width = 17, .height = 5, .color_type = 4, .bit_depth = 16});
  WritePicture(folder, "space/sun", {.width = 64, .height = 64, .color_type = 6, .bit_depth = 16, .interlaced = true});
  for (const char* name : {"animals/cat", "animals/cartoon/cat", "food/pear", "food/plum", "space/moon"}) {
    folder.Write(fmt::format("{}/{}.txt", kPictures, name),
                 fmt::format("A {}.\nde.utf8=Ein Ding: {}.\nzh_CN.utf8=\u6708\u4EAE {}\n", name, name, name));
  }
  folder.Write("raw/usr/share/dictd/gcide.txt", DictionaryText());
  for (int page = 1; page <= 3; ++page) {
    std::string text = fmt::format("Page {}\n======\n", page);
    for (int line = 0; line < page * 40; ++line) text += fmt::format("    print({}, \"line {}\")\n", line, page);
    folder.Write(fmt::format("raw/usr/share/doc/python3.11/html/_sources/part{}/index.rst.txt", page), text);
  }
}

SmallCorpus::SmallCorpus()
    : corpus_((Fill(folder_), Corpus::Open({.directory = folder_.path()}).value())), tokenizer_(TrainSmall(corpus_)) {}

const SmallCorpus& SmallCorpus::Instance() {
  static const SmallCorpus corpus;
  return corpus;
}

}  // namespace batchweave::demo
