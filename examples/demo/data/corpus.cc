#include "examples/demo/data/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "batchweave/base/hash.h"

namespace batchweave::demo {
namespace {

constexpr const char* kPictures = "usr/share/tuxpaint/stamps";
constexpr const char* kDictionary = "usr/share/dictd/gcide.txt";
constexpr const char* kManual = "usr/share/doc/python3.11";

// About six printed pages: some 2500 samples in the dictionary.
constexpr uint64_t kDictionarySampleBytes = uint64_t{16} << 10;
// Longer than every file of the manual, so that each is one sample.
constexpr uint64_t kManualSampleBytes = uint64_t{1} << 20;

struct Shuffled {
  uint64_t hash = 0;
  std::string id;
  SampleRef ref;
};

std::vector<SampleRef> Shuffle(std::vector<SampleRef> refs) {
  std::vector<Shuffled> entries;
  entries.reserve(refs.size());
  for (SampleRef& ref : refs) {
    std::string id = IdOf(ref);
    const uint64_t hash = Hash64(AsBytes(id));
    entries.push_back({hash, std::move(id), std::move(ref)});
  }
  std::ranges::sort(entries, {},
                    [](const Shuffled& entry) { return std::pair(entry.hash, std::string_view(entry.id)); });
  std::vector<SampleRef> shuffled;
  shuffled.reserve(entries.size());
  for (Shuffled& entry : entries) shuffled.push_back(std::move(entry.ref));
  return shuffled;
}

std::vector<SampleRef> KeepOneIn(const std::vector<SampleRef>& refs, uint32_t n) {
  std::vector<SampleRef> kept;
  for (size_t i = 0; i < refs.size(); i += n) kept.push_back(refs[i]);
  return kept;
}

uint64_t FingerprintOf(const std::vector<SampleRef>& refs) {
  Hasher64 hasher;
  for (const SampleRef& ref : refs) hasher.Update(AsBytes(fmt::format("{} {}\n", IdOf(ref), ref.size_bytes)));
  return hasher.Digest();
}

}  // namespace

Corpus::Corpus(ImageCaptionSource pictures, TextSource dictionary, TextSource manual)
    : pictures_(std::move(pictures)), dictionary_(std::move(dictionary)), manual_(std::move(manual)) {}

Result<Corpus> Corpus::Open(const CorpusOptions& options) {
  if (options.keep_one_in == 0) return Error{ErrorCode::kInvalidArgument, "a corpus cannot keep one sample in 0"};
  const std::string raw = options.directory + "/raw";
  Corpus corpus(ImageCaptionSource(raw, kPictures),
                TextSource({.root = raw, .folder = kDictionary, .sample_bytes_max = kDictionarySampleBytes}),
                TextSource({.root = raw, .folder = kManual, .sample_bytes_max = kManualSampleBytes}));
  std::vector<SampleRef> all = BW_TRY(corpus.pictures_.List());
  std::ranges::move(BW_TRY(corpus.dictionary_.List()), std::back_inserter(all));
  std::ranges::move(BW_TRY(corpus.manual_.List()), std::back_inserter(all));
  corpus.samples_ = KeepOneIn(Shuffle(std::move(all)), options.keep_one_in);
  corpus.fingerprint_ = FingerprintOf(corpus.samples_);
  return corpus;
}

Result<Document> Corpus::Read(const SampleRef& ref) const {
  if (ref.kind == SampleKind::kText) {
    // Both text sources read a sample alike.
    return Document{.image = std::nullopt, .text = BW_TRY(dictionary_.Read(ref))};
  }
  CaptionedImage picture = BW_TRY(pictures_.Read(ref));
  Document document{.image = std::move(picture.image), .text = {}};
  for (const Caption& caption : picture.captions) {
    document.text += fmt::format("{}: {}\n", caption.language, caption.text);
  }
  return document;
}

}  // namespace batchweave::demo
