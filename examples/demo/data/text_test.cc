// Text before it is tokenized: UTF-8, captions, and files cut in samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchweave/testing/matchers.h"
#include "examples/demo/data/caption.h"
#include "examples/demo/data/testing/small_corpus.h"
#include "examples/demo/data/text_source.h"
#include "examples/demo/data/utf8.h"

namespace batchweave::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Utf8Test, ValidTextStaysAsItIs) {
  for (const std::string_view text :
       {"", "plain", "na\u00EFve", "\u6708\u4EAE", "\U0001F600", "\u0800\uFFFD\U0010FFFF"}) {
    EXPECT_EQ(ReplaceInvalidUtf8(text), text);
  }
}

TEST(Utf8Test, BytesOfTheDictionaryThatAreLatin1AreReplaced) {
  EXPECT_EQ(ReplaceInvalidUtf8("the stock market\x92s drop"), "the stock market\uFFFDs drop");
  EXPECT_EQ(ReplaceInvalidUtf8("the fa\xE7"
                               "ade of"),
            "the fa\uFFFD"
            "ade of");
  EXPECT_EQ(ReplaceInvalidUtf8("rusts that haven\xB9t"), "rusts that haven\uFFFDt");
}

TEST(Utf8Test, IllFormedSequencesAreReplacedByteByByte) {
  const std::string r = "\uFFFD";
  EXPECT_EQ(ReplaceInvalidUtf8("\xE6\x9C"), r + r) << "cut short";
  EXPECT_EQ(ReplaceInvalidUtf8("\xC0\xAF"), r + r) << "overlong, two bytes";
  EXPECT_EQ(ReplaceInvalidUtf8("\xE0\x80\xAF"), r + r + r) << "overlong, three bytes";
  EXPECT_EQ(ReplaceInvalidUtf8("\xF0\x80\x80\xAF"), r + r + r + r) << "overlong, four bytes";
  EXPECT_EQ(ReplaceInvalidUtf8("\xED\xA0\x80"), r + r + r) << "surrogate";
  EXPECT_EQ(ReplaceInvalidUtf8("\xF4\x90\x80\x80"), r + r + r + r) << "beyond U+10FFFF";
  EXPECT_EQ(ReplaceInvalidUtf8("\xFF"), r);
}

TEST(CaptionTest, FirstLineIsEnglishAndTheOthersNameTheirLanguage) {
  EXPECT_THAT(ParseCaptions("A cat.\nde.utf8=Eine Katze.\n\nca@valencia.utf8=Un gat = gat.\r\n"),
              IsOkAndHolds(ElementsAre(Caption{"en", "A cat."}, Caption{"de", "Eine Katze."},
                                       Caption{"ca@valencia", "Un gat = gat."})));
  EXPECT_THAT(ParseCaptions(""), IsOkAndHolds(IsEmpty()));
}

TEST(CaptionTest, LineOfAnotherShapeIsCorrupt) {
  EXPECT_THAT(ParseCaptions("A cat.\nde.utf8=Eine Katze.\nUne chatte.\n"),
              IsError(ErrorCode::kCorrupt, HasSubstr("line=3")));
  EXPECT_THAT(ParseCaptions("A cat.\n.utf8=Nobody's.\n"), IsError(ErrorCode::kCorrupt));
}

std::vector<std::string> PiecesOf(std::string_view content, uint64_t sample_bytes_max) {
  const TemporaryFolder folder;
  folder.Write("raw.txt", content);
  const TextSource source({.root = folder.path(), .folder = "raw.txt", .sample_bytes_max = sample_bytes_max});
  std::vector<std::string> pieces;
  const std::vector<SampleRef> refs = source.List().value();
  for (const SampleRef& ref : refs) pieces.push_back(source.Read(ref).value());
  return pieces;
}

TEST(TextSourceTest, LongFileIsCutBehindTheLastLineThatFits) {
  EXPECT_THAT(PiecesOf("one\ntwo\nthree\n", 9), ElementsAre("one\ntwo\n", "three\n"));
  EXPECT_THAT(PiecesOf("one\ntwo\n", 8), ElementsAre("one\ntwo\n"));
  EXPECT_THAT(PiecesOf("", 8), IsEmpty());
}

TEST(TextSourceTest, LongLineIsCutBetweenCharacters) {
  EXPECT_THAT(PiecesOf("abcdefgh", 5), ElementsAre("abcde", "fgh"));
  EXPECT_THAT(PiecesOf("abc\u6708\u4EAE", 5), ElementsAre("abc", "\u6708", "\u4EAE"));
  EXPECT_THAT(PiecesOf("\U0001F600\U0001F601", 4), ElementsAre("\U0001F600", "\U0001F601"));
  EXPECT_THAT(PiecesOf("\x80\x80\x80\x80\x80", 4), SizeIs(2));
}

TEST(TextSourceTest, FolderGivesItsTextFilesByPath) {
  const TemporaryFolder folder;
  folder.Write("docs/b/index.txt", "bb");
  folder.Write("docs/a/index.txt", "a");
  folder.Write("docs/a/picture.png", "not text");
  const TextSource source({.root = folder.path(), .folder = "docs", .sample_bytes_max = 10});
  EXPECT_THAT(source.List(), IsOkAndHolds(ElementsAre(SampleRef{SampleKind::kText, "docs/a/index.txt", 0, 1},
                                                      SampleRef{SampleKind::kText, "docs/b/index.txt", 0, 2})));
}

TEST(TextSourceTest, MissingFolderIsNotFoundAndAFileThatShrankIsCorrupt) {
  const TemporaryFolder folder;
  EXPECT_THAT(TextSource({.root = folder.path(), .folder = "docs", .sample_bytes_max = 10}).List(),
              IsError(ErrorCode::kNotFound));
  folder.Write("raw.txt", "short");
  const TextSource source({.root = folder.path(), .folder = "raw.txt", .sample_bytes_max = 10});
  EXPECT_THAT(source.Read({.kind = SampleKind::kText, .path = "raw.txt", .offset = 0, .size_bytes = 6}),
              IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(source.Read({.kind = SampleKind::kText, .path = "gone.txt", .offset = 0, .size_bytes = 6}),
              IsError(ErrorCode::kNotFound));
}

}  // namespace
}  // namespace batchweave::demo
