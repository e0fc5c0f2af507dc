// Sources, corpus and tokenizer together, on a small corpus.
#include "examples/demo/data/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "batchweave/testing/matchers.h"
#include "examples/demo/data/files.h"
#include "examples/demo/data/testing/png_writer.h"
#include "examples/demo/data/testing/small_corpus.h"
#include "examples/demo/data/tokenizer_training.h"

namespace batchweave::demo {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CorpusTest, HoldsEachSampleOnceInOneOrder) {
  const Corpus& corpus = SmallCorpus::Instance().corpus();
  std::set<std::string> ids;
  size_t pictures = 0;
  for (const SampleRef& ref : corpus.samples()) {
    ids.insert(IdOf(ref));
    pictures += ref.kind == SampleKind::kImageCaption;
  }
  EXPECT_EQ(ids.size(), corpus.samples().size());
  EXPECT_EQ(pictures, 6u);
  EXPECT_EQ(corpus.samples().size(), 6u + 4u + 3u);
  const Corpus again = Corpus::Open({.directory = SmallCorpus::Instance().directory()}).value();
  EXPECT_EQ(again.samples(), corpus.samples());
  EXPECT_EQ(again.fingerprint(), corpus.fingerprint());
}

TEST(CorpusTest, KeepingOneInTwoIsAnotherCorpus) {
  const std::string& directory = SmallCorpus::Instance().directory();
  const Corpus half = Corpus::Open({.directory = directory, .keep_one_in = 2}).value();
  EXPECT_EQ(half.samples().size(), 7u);
  EXPECT_NE(half.fingerprint(), SmallCorpus::Instance().corpus().fingerprint());
  EXPECT_THAT(Corpus::Open({.directory = directory, .keep_one_in = 0}), IsError(ErrorCode::kInvalidArgument));
}

TEST(CorpusTest, DataThatWasNotFetchedIsNotFound) {
  const TemporaryFolder folder;
  EXPECT_THAT(Corpus::Open({.directory = folder.path()}), IsError(ErrorCode::kNotFound));
}

TEST(CorpusTest, PictureComesWithItsCaptionsOrWithout) {
  const Corpus& corpus = SmallCorpus::Instance().corpus();
  for (const SampleRef& ref : corpus.samples()) {
    if (ref.kind != SampleKind::kImageCaption) continue;
    const Document document = corpus.Read(ref).value();
    ASSERT_TRUE(document.image.has_value());
    if (ref.path.ends_with("sun.png")) {
      EXPECT_EQ(document.text, "");
    } else {
      EXPECT_THAT(document.text, StartsWith("en: A "));
      EXPECT_THAT(document.text, HasSubstr("\nde: Ein Ding"));
    }
  }
}

TEST(ImageCaptionSourceTest, ErrorsNameTheFile) {
  const TemporaryFolder folder;
  const Bytes png = WritePng({.width = 2, .height = 2}, [](uint32_t, uint32_t, uint32_t) { return 7; });
  folder.Write("a/cut.png", ByteView(png).first(png.size() / 2));
  folder.Write("b/good.png", png);
  folder.Write("b/good.txt", "A square.\nnonsense\n");
  const ImageCaptionSource source(folder.path(), ".");
  const std::vector<SampleRef> refs = source.List().value();
  ASSERT_EQ(refs.size(), 2u);
  EXPECT_THAT(source.Read(refs[0]), IsError(ErrorCode::kCorrupt, HasSubstr("a/cut.png")));
  EXPECT_THAT(source.Read(refs[1]), IsError(ErrorCode::kCorrupt, HasSubstr("b/good.txt")));
}

TEST(TokenizerTest, LosesNoCharacterOfTheCorpus) {
  const SmallCorpus& small = SmallCorpus::Instance();
  for (const SampleRef& ref : small.corpus().samples()) {
    const std::string text = small.corpus().Read(ref).value().text;
    EXPECT_THAT(small.tokenizer().Decode(small.tokenizer().Encode(text).value()), IsOkAndHolds(text)) << IdOf(ref);
  }
}

TEST(TokenizerTest, LosesNoCharacterThatItNeverSaw) {
  const Tokenizer& tokenizer = SmallCorpus::Instance().tokenizer();
  for (const std::string text : {"", " ", "\n\n\t  x ", "\u0416\u0443\u043A \U0001F600", "\x01\x7F"}) {
    EXPECT_THAT(tokenizer.Decode(tokenizer.Encode(text).value()), IsOkAndHolds(text));
  }
}

TEST(TokenizerTest, ForeignModelIsCorrupt) {
  EXPECT_THAT(Tokenizer::Load(AsBytes("not a model")), IsError(ErrorCode::kCorrupt));
}

TEST(TokenizerTest, TokenBeyondTheVocabularyIsRefused) {
  EXPECT_THAT(SmallCorpus::Instance().tokenizer().Decode({kPatchToken}), IsError(ErrorCode::kInvalidArgument));
}

TEST(TokenizerTrainingTest, GivesTheSameBytesEachTime) {
  const Corpus& corpus = SmallCorpus::Instance().corpus();
  const TrainingOptions options{.text_bytes_max = 20'000, .vocabulary = 400};
  const Result<Bytes> first = TrainTokenizer(corpus, options);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(TrainTokenizer(corpus, options), IsOkAndHolds(*first));
}

TEST(TokenizerTrainingTest, TrainedModelIsKeptAndADamagedOneReplaced) {
  const Corpus& corpus = SmallCorpus::Instance().corpus();
  const TemporaryFolder folder;
  const std::string path = TokenizerPath(folder.path(), corpus);
  ASSERT_THAT(LoadOrTrainTokenizer(corpus, path), IsOk());
  const Bytes model = ReadFile(path).value();
  ASSERT_THAT(ReplaceFile(path, AsBytes("damaged")), IsOk());
  ASSERT_THAT(LoadOrTrainTokenizer(corpus, path), IsOk());
  EXPECT_THAT(ReadFile(path), IsOkAndHolds(model));
}

}  // namespace
}  // namespace batchweave::demo
