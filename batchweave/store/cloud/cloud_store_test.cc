// What each answer of a server comes to, by servers that say it on demand. What real servers do: tests/cloud/.
#include "batchweave/store/cloud/cloud_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "batchweave/testing/manual_clock.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/scripted_http_server.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kSecret = "SuperSecretKey";

// A store of the bucket "bucket" on a server that answers with `answers`.
class Scripted {
 public:
  explicit Scripted(std::vector<std::string> answers, std::string_view scheme = "s3") : server_(std::move(answers)) {
    StorageOptions options = {{"endpoint", server_.url()}, {"allow_http", "true"}, {"request_timeout_ms", "500"}};
    if (scheme == "s3") {
      options.insert(options.end(), {{"access_key_id", "id"}, {"secret_access_key", std::string(kSecret)}});
    } else {
      options.insert(options.end(), {{"account_name", "account"}, {"access_key", "c2VjcmV0"}});
    }
    store_ = OpenCloudStore(fmt::format("{}://bucket/below", scheme), options, clock_, random_).value();
  }

  CloudStore& store() { return *store_; }
  ManualClock& clock() { return clock_; }
  std::vector<std::string> requests() const { return server_.requests(); }

  Result<void> Create() { return PutBytes(*store_, "a/key", AsBytes("text"), PutMode::kCreate); }
  Result<void> Overwrite() { return PutBytes(*store_, "a/key", AsBytes("text"), PutMode::kOverwrite); }

 private:
  ScriptedHttpServer server_;
  ManualClock clock_;
  SeededRandom random_{1};
  std::unique_ptr<CloudStore> store_;
};

std::string S3Error(int status, std::string_view code, std::string_view headers = "") {
  return HttpAnswer(status, headers,
                    fmt::format("<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>in words</Message>"
                                "<StringToSign>{}</StringToSign></Error>",
                                code, kSecret));
}

TEST(CloudStoreTest, ACreateIsConditionalAndBelowThePrefix) {
  Scripted scripted({HttpAnswer(200, "ETag: \"1\"\r\n")});
  EXPECT_THAT(scripted.Create(), IsOk());
  ASSERT_THAT(scripted.requests(), SizeIs(1));
  EXPECT_THAT(scripted.requests()[0], AllOf(HasSubstr("put /bucket/below/a/key "), HasSubstr("if-none-match: *")));
}

// Covers A3, A5, A6, A7, E5.
TEST(CloudStoreTest, EachAnswerToACreateIsJudgedAndNoneIsRepeated) {
  struct Case {
    int status;
    std::string_view code;
    ErrorCode expected;
  };
  for (const Case& item : std::initializer_list<Case>{
           {412, "PreconditionFailed", ErrorCode::kAlreadyExists},
           {409, "ConditionalRequestConflict", ErrorCode::kUnknownOutcome},
           {429, "TooManyRequests", ErrorCode::kUnknownOutcome},
           {400, "RequestTimeout", ErrorCode::kUnknownOutcome},
           {408, "RequestTimeout", ErrorCode::kUnknownOutcome},
           {500, "InternalError", ErrorCode::kUnknownOutcome},
           {502, "BadGateway", ErrorCode::kUnknownOutcome},
           {503, "SlowDown", ErrorCode::kUnknownOutcome},
           {504, "GatewayTimeout", ErrorCode::kUnknownOutcome},
           {301, "PermanentRedirect", ErrorCode::kDenied},
           {307, "TemporaryRedirect", ErrorCode::kDenied},
           {400, "AuthorizationHeaderMalformed", ErrorCode::kDenied},
           {400, "ExpiredToken", ErrorCode::kDenied},
           {401, "Unauthorized", ErrorCode::kDenied},
           {403, "AccessDenied", ErrorCode::kDenied},
           {404, "NoSuchBucket", ErrorCode::kDenied},
           {507, "XMinioStorageFull", ErrorCode::kDenied},
           {413, "EntityTooLarge", ErrorCode::kInvalidArgument},
       }) {
    Scripted scripted({S3Error(item.status, item.code, "Location: http://127.0.0.1:1/\r\n")});
    EXPECT_THAT(scripted.Create(), IsError(item.expected, HasSubstr(fmt::format("status={}", item.status))));
    EXPECT_THAT(scripted.requests(), SizeIs(1)) << item.status;
  }
}

// Covers A3, A4.
TEST(CloudStoreTest, ACreateWhoseConnectionBreaksIsSentOnceAndUndecided) {
  for (const std::string& answer : {std::string(), std::string("HTTP/1.1 20"), std::string("nonsense\r\n\r\n")}) {
    // The connection has served a request before: kept alive, then broken.
    Scripted scripted({HttpAnswer(200, "ETag: \"1\"\r\n"), answer});
    ASSERT_THAT(scripted.Create(), IsOk());
    EXPECT_THAT(scripted.Create(), IsError(ErrorCode::kUnknownOutcome)) << answer;
    EXPECT_THAT(scripted.requests(), SizeIs(2)) << answer;
  }
}

// Covers A2, A3.
TEST(CloudStoreTest, ACreateThatIsNotAnsweredInTimeIsUndecided) {
  Scripted scripted({std::string(kNoHttpAnswer)});
  EXPECT_THAT(scripted.Create(), IsError(ErrorCode::kUnknownOutcome, HasSubstr("no answer within 0.5 s")));
}

TEST(CloudStoreTest, WhereNobodyListensNothingWasWritten) {
  std::string url;
  {
    const ScriptedHttpServer gone({""});
    url = gone.url();
  }
  ManualClock clock;
  SeededRandom random(1);
  const std::unique_ptr<ObjectStore> store =
      OpenCloudStore("s3://bucket?allow_http=true&skip_signature=true", {{"endpoint", url}}, clock, random).value();
  EXPECT_THAT(PutBytes(*store, "a", AsBytes("x"), PutMode::kCreate),
              IsError(ErrorCode::kUnavailable, HasSubstr("cannot connect")));
  EXPECT_THAT(store->Read("a"), IsError(ErrorCode::kUnavailable));
}

TEST(CloudStoreTest, AnOverwriteIsUndecidedWhereACreateIs) {
  for (const int status : {409, 412, 429, 500, 503}) {
    Scripted scripted({S3Error(status, "Code")});
    EXPECT_THAT(scripted.Overwrite(), IsError(ErrorCode::kUnknownOutcome)) << status;
    EXPECT_THAT(scripted.requests(), SizeIs(1)) << status;
  }
}

// Covers A7.
TEST(CloudStoreTest, AzureTellsByNameThatABlobExists) {
  Scripted exists({HttpAnswer(409, "x-ms-error-code: BlobAlreadyExists\r\n")}, "az");
  EXPECT_THAT(exists.Create(), IsError(ErrorCode::kAlreadyExists));
  Scripted leased({HttpAnswer(409, "x-ms-error-code: LeaseIdMissing\r\n")}, "az");
  EXPECT_THAT(leased.Create(), IsError(ErrorCode::kUnknownOutcome));
}

class CloudReadTest : public ::testing::Test {
 protected:
  // Of bytes 10-13 of an object of 100.
  static Result<std::string> ReadRange(Scripted& scripted) {
    std::string text(4, '?');
    ReadRequest request{.key = "a", .offset = 10, .buffer = std::as_writable_bytes(std::span(text))};
    BW_TRY(scripted.store().Get({&request, 1}));
    text.resize(request.received_bytes);
    return text;
  }

  static std::string Partial(std::string_view range, std::string_view body) {
    return HttpAnswer(206,
                      fmt::format("Content-Range: {}\r\nETag: \"1\"\r\n"
                                  "Last-Modified: Mon, 02 Jan 2006 15:04:05 GMT\r\n",
                                  range),
                      body);
  }
  static std::string Good() { return Partial("bytes 10-13/100", "text"); }
};

// Covers F2, F3.
TEST_F(CloudReadTest, AWrongAnswerToARangedReadIsReadAgain) {
  const std::string whole = HttpAnswer(200, "ETag: \"1\"\r\nLast-Modified: Mon, 02 Jan 2006 15:04:05 GMT\r\n", "text");
  const std::string cut = Good().substr(0, Good().size() - 2);
  for (const std::string& answer :
       {whole, cut, Partial("bytes 11-14/100", "text"), Partial("bytes 10-12/100", "tex"),
        Partial("bytes 10-13/100", "tex"), Partial("bytes 10-13/100", "texts"), Partial("bytes 10-13/100", ""),
        Partial("bytes ten", "text"), std::string(), HttpAnswer(503), HttpAnswer(429), HttpAnswer(500)}) {
    Scripted scripted({answer, Good()});
    EXPECT_THAT(ReadRange(scripted), IsOkAndHolds("text")) << answer;
    EXPECT_THAT(scripted.requests(), SizeIs(2)) << answer;
  }
}

TEST_F(CloudReadTest, ARangeThatEndsEarlyIsShortAndOneBeyondTheEndEmpty) {
  Scripted early({Partial("bytes 10-11/12", "te")});
  EXPECT_THAT(ReadRange(early), IsOkAndHolds("te"));
  Scripted beyond({S3Error(416, "InvalidRange")});
  EXPECT_THAT(ReadRange(beyond), IsOkAndHolds(IsEmpty()));
}

TEST_F(CloudReadTest, WhatCannotBeReadIsSaidAtOnce) {
  Scripted missing({S3Error(404, "NoSuchKey")});
  EXPECT_THAT(ReadRange(missing), IsError(ErrorCode::kNotFound));
  Scripted no_bucket({S3Error(404, "NoSuchBucket")});
  EXPECT_THAT(ReadRange(no_bucket), IsError(ErrorCode::kDenied, HasSubstr("create the bucket")));
  Scripted no_user({S3Error(404, "XAdminUserNotFound")});
  EXPECT_THAT(ReadRange(no_user), IsError(ErrorCode::kDenied, HasSubstr("check the access key")));
  Scripted denied({S3Error(403, "AccessDenied")});
  EXPECT_THAT(ReadRange(denied), IsError(ErrorCode::kDenied, HasSubstr("s3:GetObject")));
  EXPECT_THAT(denied.requests(), SizeIs(1));
}

TEST_F(CloudReadTest, RetriesEndAndWaitAsLongAsTheServerAsks) {
  Scripted always({HttpAnswer(503)});
  EXPECT_THAT(ReadRange(always), IsError(ErrorCode::kUnavailable, HasSubstr("status=503")));
  EXPECT_THAT(always.requests(), SizeIs(RetryPolicy{}.attempts_max));
  Scripted patient({HttpAnswer(503, "Retry-After: 3\r\n"), Good()});
  const TimePoint begun = patient.clock().Now();
  EXPECT_THAT(ReadRange(patient), IsOkAndHolds("text"));
  EXPECT_GE(patient.clock().Now() - begun, std::chrono::seconds(3));
  Scripted dated({HttpAnswer(503,
                             "Date: Mon, 02 Jan 2006 15:04:05 GMT\r\n"
                             "Retry-After: Mon, 02 Jan 2006 15:04:09 GMT\r\n"),
                  Good()});
  const TimePoint before = dated.clock().Now();
  EXPECT_THAT(ReadRange(dated), IsOkAndHolds("text"));
  EXPECT_GE(dated.clock().Now() - before, std::chrono::seconds(4));
  Scripted late({HttpAnswer(503, "Retry-After: 3600\r\n"), Good()});
  EXPECT_THAT(ReadRange(late), IsError(ErrorCode::kUnavailable));
}

TEST(CloudStoreTest, AnErrorNamesNoSecretAndNoUrl) {
  Scripted scripted({S3Error(403, "SignatureDoesNotMatch")});
  for (const Result<void>& failed : {scripted.Create(), scripted.Overwrite()}) {
    EXPECT_THAT(failed, IsError(ErrorCode::kDenied, AllOf(Not(HasSubstr(kSecret)), Not(HasSubstr("127.0.0.1")),
                                                          HasSubstr("check the access key"))));
  }
}

TEST(CloudStoreTest, WhereNothingIsToBeSignedNobodyIsAskedForCredentials) {
  const ScriptedHttpServer server({HttpAnswer(200, "ETag: \"1\"\r\n")});
  ManualClock clock;
  SeededRandom random(1);
  for (const char* url : {"s3://bucket?skip_signature=true", "gs://bucket?skip_signature=true",
                          "az://bucket?skip_signature=true&account_name=a"}) {
    const StorageOptions options = {{"endpoint", server.url()}, {"allow_http", "true"}};
    const std::unique_ptr<ObjectStore> store = OpenCloudStore(url, options, clock, random).value();
    EXPECT_THAT(PutBytes(*store, "a", AsBytes("x"), PutMode::kCreate), IsOk()) << url;
  }
  EXPECT_THAT(server.requests(), SizeIs(3));
}

TEST(CloudStoreTest, WhatAUrlSaysOfEncryptionGoesWithAPut) {
  const ScriptedHttpServer server({HttpAnswer(200, "ETag: \"1\"\r\n")});
  ManualClock clock;
  SeededRandom random(1);
  const std::unique_ptr<ObjectStore> store =
      OpenCloudStore(
          "s3://bucket?skip_signature=true&server_side_encryption=aws:kms&sse_kms_key_id=name-of-a-key"
          "&aws_sse_bucket_key_enabled=true",
          {{"endpoint", server.url()}, {"allow_http", "true"}}, clock, random)
          .value();
  ASSERT_THAT(PutBytes(*store, "a", AsBytes("x"), PutMode::kCreate), IsOk());
  EXPECT_THAT(server.requests().front(), AllOf(HasSubstr("x-amz-server-side-encryption: aws:kms"),
                                               HasSubstr("x-amz-server-side-encryption-aws-kms-key-id: name-of-a-key"),
                                               HasSubstr("x-amz-server-side-encryption-bucket-key-enabled: true")));
}

TEST(CloudStoreTest, AMessageSaysWhatToDo) {
  struct Case {
    int status;
    std::string_view code;
    std::string_view advice;
  };
  for (const Case& item : std::initializer_list<Case>{
           {403, "RequestTimeTooSkewed", "set this machine's clock"},
           {400, "ExpiredToken", "the credentials have expired"},
           {403, "InvalidAccessKeyId", "check the access key"},
           {404, "NoSuchBucket", "create the bucket"},
           {301, "PermanentRedirect", "check the region and the endpoint"},
           {400, "AuthorizationHeaderMalformed", "check the region and the endpoint"},
           {407, "", "HTTPS_PROXY"},
           {403, "AccessDenied", "s3:PutObject"},
       }) {
    Scripted scripted({S3Error(item.status, item.code, "Location: http://127.0.0.1:1/\r\n")});
    EXPECT_THAT(scripted.Create(), IsError(ErrorCode::kDenied, HasSubstr(std::string(item.advice)))) << item.code;
  }
  Scripted denied({S3Error(403, "AccessDenied")});
  EXPECT_THAT(denied.store().List("", "", 1), IsError(ErrorCode::kDenied, HasSubstr("s3:ListBucket")));
  EXPECT_THAT(denied.store().Read("a"), IsError(ErrorCode::kDenied, HasSubstr("s3:GetObject")));
  EXPECT_THAT(denied.store().Delete(std::vector<std::string>{"a"}),
              IsError(ErrorCode::kDenied, HasSubstr("s3:DeleteObject")));
}

std::string UploadXml(std::string_view key, std::string_view id) {
  return fmt::format("<Upload><Key>{}</Key><UploadId>{}</UploadId></Upload>", key, id);
}

std::string UploadsAnswer(std::string_view uploads, std::string_view more = "<IsTruncated>false</IsTruncated>") {
  return HttpAnswer(200, "",
                    fmt::format("<?xml version=\"1.0\"?><ListMultipartUploadsResult>{}{}</ListMultipartUploadsResult>",
                                uploads, more));
}

TEST(CloudStoreTest, UnfinishedUploadsComeInPages) {
  Scripted scripted({UploadsAnswer(UploadXml("below/a/1", "one") + UploadXml("elsewhere/a/1", "other"),
                                   "<IsTruncated>true</IsTruncated><NextKeyMarker>below/a/1&amp;</NextKeyMarker>"
                                   "<NextUploadIdMarker>one</NextUploadIdMarker>"),
                     UploadsAnswer(UploadXml("below/a/&lt;2&gt;", "t&amp;wo"))});
  const Result<std::vector<UnfinishedUpload>> listed = scripted.store().ListUnfinished("a/");
  ASSERT_THAT(listed, IsOk());
  ASSERT_THAT(*listed, SizeIs(2)) << "and none that is not below the prefix of the URL";
  EXPECT_EQ((*listed)[0].key, "a/1");
  EXPECT_EQ((*listed)[0].id, "one");
  EXPECT_EQ((*listed)[1].key, "a/<2>");
  EXPECT_EQ((*listed)[1].id, "t&wo");
  ASSERT_THAT(scripted.requests(), SizeIs(2));
  EXPECT_THAT(scripted.requests()[0], AllOf(HasSubstr("?uploads=&prefix=below%2fa%2f"), Not(HasSubstr("key-marker"))));
  EXPECT_THAT(scripted.requests()[1], HasSubstr("&key-marker=below%2fa%2f1%26&upload-id-marker=one"));
}

TEST(CloudStoreTest, AServerThatKnowsNoUploadsHasNone) {
  // It says so; it takes the request for a LIST of objects; it gives the same page for ever.
  const std::string same = UploadsAnswer(
      "", "<IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>i</NextUploadIdMarker>");
  for (const std::string& answer :
       {S3Error(501, "NotImplemented"), S3Error(405, "MethodNotAllowed"),
        HttpAnswer(200, "", "<ListBucketResult><IsTruncated>true</IsTruncated><Key>a</Key></ListBucketResult>"),
        same}) {
    Scripted scripted({answer});
    const Result<std::vector<UnfinishedUpload>> listed = scripted.store().ListUnfinished("");
    ASSERT_THAT(listed, IsOk()) << answer;
    EXPECT_THAT(*listed, IsEmpty()) << answer;
    EXPECT_LE(scripted.requests().size(), 2u);
  }
}

TEST(CloudStoreTest, AListThatShowsAKeyThatCannotBeNamedSaysWhich) {
  for (const auto& [listed, shown] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{{"below/a//b", "below/a//b"},
                                                                            {"below/a/../b", "below/a/../b"},
                                                                            {"below/a/./b", "below/a/./b"},
                                                                            {"below/a/&#10;b", "below/a/\\nb"}}) {
    constexpr std::string_view kObject =
        "<Contents><Key>{}</Key><Size>1</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>";
    const std::string body = fmt::format("<?xml version=\"1.0\"?><ListBucketResult>{}{}</ListBucketResult>",
                                         fmt::format(kObject, "below/a/key"), fmt::format(kObject, listed));
    Scripted scripted({HttpAnswer(200, "", body)});
    EXPECT_THAT(scripted.store().List("a/", "", 10),
                IsError(ErrorCode::kDenied, HasSubstr(fmt::format("remove or move it: key={}", shown))));
    EXPECT_THAT(scripted.requests(), SizeIs(1));
  }
}

TEST(CloudStoreTest, ADeniedListOrAbortOfUploadsNamesTheRight) {
  Scripted denied({S3Error(403, "AccessDenied")});
  EXPECT_THAT(denied.store().ListUnfinished(""),
              IsError(ErrorCode::kDenied, HasSubstr("s3:ListBucketMultipartUploads")));
  EXPECT_THAT(denied.store().AbortUnfinished({.key = "a", .id = "1"}),
              IsError(ErrorCode::kDenied, HasSubstr("s3:AbortMultipartUpload")));
}

TEST(CloudStoreTest, WhereNoConnectionCouldBeMadeNothingWasSent) {
  const ScriptedHttpServer mute({HttpAnswer(200)});  // It waits for the end of a request that is none.
  for (const std::string& port : {mute.url().substr(std::string("http://127.0.0.1:").size()), std::string("1")}) {
    ManualClock clock;
    SeededRandom random(1);
    const std::unique_ptr<ObjectStore> store =
        OpenCloudStore("s3://bucket?skip_signature=true", {{"endpoint", "https://127.0.0.1:" + port}}, clock, random)
            .value();
    EXPECT_THAT(PutBytes(*store, "a", AsBytes("x"), PutMode::kCreate),
                IsError(ErrorCode::kUnavailable, AllOf(HasSubstr("cannot connect"), HasSubstr("check the endpoint"))))
        << port;
  }
}

TEST(CloudStoreTest, AUrlIsCheckedWhenItIsOpened) {
  ManualClock clock;
  SeededRandom random(1);
  const auto open = [&](std::string_view url) { return OpenCloudStore(url, {}, clock, random); };
  for (const char* url :
       {"s3://", "s3:///prefix", "s3://bucket?no_such_option=1", "s3://bucket?path_style=perhaps",
        "az://container?endpoint=", "s3://bucket?request_timeout_ms=soon", "s3://bucket?endpoint=http://127.0.0.1:1",
        "gs://bucket?endpoint=http://127.0.0.1:1", "az://container?account_name=a&endpoint=http://127.0.0.1:1"}) {
    EXPECT_THAT(open(url), IsError(ErrorCode::kInvalidArgument)) << url;
  }
  for (const char* url :
       {"s3://user:SuperSecretKey@bucket/prefix", "s3://bucket?secret_access_key=SuperSecretKey",
        "az://container?account_name=a&sas_token=SuperSecretKey", "gs://bucket?service_account_key=SuperSecretKey"}) {
    EXPECT_THAT(open(url), IsError(ErrorCode::kInvalidArgument, Not(HasSubstr(kSecret)))) << url;
  }
}

}  // namespace
}  // namespace batchweave
