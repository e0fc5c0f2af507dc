// Credentials of S3 from wherever the usual tools take them, on a real server, through weeks in which they expire.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "batchweave/testing/local_server.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/scripted_http_server.h"
#include "tests/cloud/fault_proxy.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kSecret = "tester-secret";
constexpr const char* kFarEnd = "2100-01-01T00:00:00Z";

// The variables that name credentials, and none that this machine may have.
class CloudCredentialsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = LocalServer::Versitygw();
    if (server_ == nullptr) GTEST_SKIP() << "not installed";
    proxy_.emplace(server_->port());
    Set("HOME", home_.path());
    Set("AWS_CONFIG_FILE", home_.path() + "/config");
    Set("AWS_SHARED_CREDENTIALS_FILE", home_.path() + "/credentials");
    Set("AWS_EC2_METADATA_DISABLED", "true");
  }
  void TearDown() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }

  void Set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = home_.path() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }

  std::unique_ptr<CloudStore> Open(const std::string& more = "") {
    return OpenCloudStore(server_->Url("credentials", proxy_->port()) + more, {}, clock_, random_).value();
  }

  // Whether a store opened now may write and read.
  Result<void> Use(const std::string& more = "") {
    const std::unique_ptr<CloudStore> store = Open(more);
    BW_TRY(PutBytes(*store, "key", AsBytes("text"), PutMode::kOverwrite));
    BW_TRY(store->Read("key"));
    return {};
  }

  // That a store opened now signs with what somebody gave: versitygw knows no session tokens.
  void ExpectSignedWithToken(const std::string& more = "") {
    const ScriptedHttpServer s3({HttpAnswer(200, "ETag: \"1\"\r\n")});
    const StorageOptions options = {{"endpoint", s3.url()}, {"allow_http", "true"}};
    const auto store = OpenCloudStore("s3://bucket/?region=us-east-1" + more, options, clock_, random_).value();
    ASSERT_THAT(PutBytes(*store, "key", AsBytes("text"), PutMode::kOverwrite), IsOk());
    EXPECT_THAT(s3.requests().front(), AllOf(HasSubstr("credential=tester/"), HasSubstr("x-amz-security-token: of-")));
  }

  TemporaryDirectory home_;
  std::vector<std::string> set_;
  SystemClock clock_;
  SystemRandom random_;
  std::unique_ptr<LocalServer> server_;
  std::optional<FaultProxy> proxy_;
};

// As containers and machines say them.
std::string JsonCredentials() {
  return fmt::format(R"({{"Code":"Success","AccessKeyId":"tester","SecretAccessKey":"{}","Token":"of-json",)"
                     R"("Expiration":"{}"}})",
                     kSecret, kFarEnd);
}

std::string StsAnswer(std::string_view action) {
  return HttpAnswer(
      200, "Content-Type: text/xml\r\n",
      fmt::format(
          "<{0}Response><{0}Result><Credentials>"
          "<AccessKeyId>tester</AccessKeyId><SecretAccessKey>{1}</SecretAccessKey><SessionToken>of-sts</SessionToken>"
          "<Expiration>{2}</Expiration></Credentials><AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/r/s</Arn>"
          "<AssumedRoleId>id:s</AssumedRoleId></AssumedRoleUser></{0}Result></{0}Response>",
          action, kSecret, kFarEnd));
}

TEST_F(CloudCredentialsTest, FromTheEnvironment) {
  Set("AWS_ACCESS_KEY_ID", "tester");
  Set("AWS_SECRET_ACCESS_KEY", std::string(kSecret));
  EXPECT_THAT(Use(), IsOk());
}

TEST_F(CloudCredentialsTest, FromAProfileThatTheUrlOrTheEnvironmentNames) {
  Write("credentials", fmt::format("[job]\naws_access_key_id = tester\naws_secret_access_key = {}\n", kSecret));
  EXPECT_THAT(Use("&profile=job"), IsOk());
  Set("AWS_PROFILE", "job");
  EXPECT_THAT(Use(), IsOk());
}

TEST_F(CloudCredentialsTest, TheRegionToo) {
  Write("credentials", fmt::format("[job]\naws_access_key_id = tester\naws_secret_access_key = {}\n", kSecret));
  Write("config", "[profile job]\nregion = far-north-7\n[default]\nregion = far-south-1\n");
  const auto region_of = [&](const std::string& query) {
    const ScriptedHttpServer s3({HttpAnswer(200, "ETag: \"1\"\r\n")});
    const StorageOptions options = {{"endpoint", s3.url()}, {"allow_http", "true"}};
    const auto store = OpenCloudStore("s3://bucket/?profile=job" + query, options, clock_, random_).value();
    EXPECT_THAT(PutBytes(*store, "key", AsBytes("text"), PutMode::kOverwrite), IsOk());
    const std::string request = s3.requests().front();
    const size_t begin = request.find('/', request.find("credential=tester/") + 18) + 1;
    return request.substr(begin, request.find('/', begin) - begin);
  };
  EXPECT_EQ(region_of(""), "far-north-7");
  EXPECT_EQ(region_of("&region=here"), "here");
  Set("AWS_REGION", "of-the-environment");
  EXPECT_EQ(region_of(""), "of-the-environment");
}

TEST_F(CloudCredentialsTest, FromARoleThatAProfileAssumes) {
  const ScriptedHttpServer sts({StsAnswer("AssumeRole")});
  Set("AWS_ENDPOINT_URL_STS", sts.url());
  Write("config",
        "[profile base]\naws_access_key_id = other\naws_secret_access_key = other-secret\n"
        "[profile job]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\n");
  ExpectSignedWithToken("&profile=job");
  EXPECT_EQ(sts.requests().size(), 1u);
}

TEST_F(CloudCredentialsTest, FromAnIdentityTokenInAFile) {
  const ScriptedHttpServer sts({StsAnswer("AssumeRoleWithWebIdentity")});
  Set("AWS_ENDPOINT_URL_STS", sts.url());
  Set("AWS_WEB_IDENTITY_TOKEN_FILE", Write("token", "identity"));
  Set("AWS_ROLE_ARN", "arn:aws:iam::1:role/r");
  ExpectSignedWithToken();
  EXPECT_EQ(sts.requests().size(), 1u);
}

TEST_F(CloudCredentialsTest, FromASingleSignOn) {
  const ScriptedHttpServer sso(
      {HttpAnswer(200, "Content-Type: application/json\r\n",
                  fmt::format(R"({{"roleCredentials":{{"accessKeyId":"tester","secretAccessKey":"{}",)"
                              R"("sessionToken":"of-sso","expiration":4102444800000}}}})",
                              kSecret))});
  Set("AWS_ENDPOINT_URL_SSO", sso.url());
  Write("config",
        "[profile job]\nsso_session = work\nsso_account_id = 1\nsso_role_name = r\n"
        "[sso-session work]\nsso_region = us-east-1\nsso_start_url = https://example.com/start\n");
  // Named after the SHA-1 of "work", as `aws sso login` does.
  Write(".aws/sso/cache/e274eeff768c6396088ec6eb091f4bf4d47ab1e0.json",
        R"({"accessToken":"signed-on","expiresAt":"2100-01-01T00:00:00Z","region":"us-east-1"})");
  ExpectSignedWithToken("&profile=job");
  EXPECT_THAT(sso.requests().front(), HasSubstr("signed-on"));
}

TEST_F(CloudCredentialsTest, FromAContainer) {
  const ScriptedHttpServer container({HttpAnswer(200, "Content-Type: application/json\r\n", JsonCredentials())});
  Set("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.url() + "/role");
  ExpectSignedWithToken();
}

TEST_F(CloudCredentialsTest, FromAMachine) {
  const LoopbackHttpServer machine([](int connection, const HttpMessage& request) {
    if (request.method() == "PUT") {
      return SendAll(connection, HttpAnswer(200, "x-aws-ec2-metadata-token-ttl-seconds: 21600\r\n", "session"));
    }
    const bool asks_for_roles = request.target().ends_with("/security-credentials/");
    return SendAll(connection, HttpAnswer(200, "", asks_for_roles ? "role" : JsonCredentials()));
  });
  unsetenv("AWS_EC2_METADATA_DISABLED");
  Set("AWS_EC2_METADATA_SERVICE_ENDPOINT", fmt::format("http://127.0.0.1:{}", machine.port()));
  ExpectSignedWithToken();
}

TEST_F(CloudCredentialsTest, GoogleFromAMachine) {
  const ScriptedHttpServer machine(
      {HttpAnswer(200, "Content-Type: application/json\r\n", R"({"access_token":"tester-token","expires_in":3600})")});
  Set("GCE_METADATA_HOST", machine.url().substr(std::string("http://").size()));
  const std::unique_ptr<LocalServer> stub = LocalServer::GcsStub();
  const std::unique_ptr<CloudStore> store = OpenCloudStore(stub->Url("credentials"), {}, clock_, random_).value();
  EXPECT_THAT(PutBytes(*store, "key", AsBytes("text"), PutMode::kCreate), IsOk());
  EXPECT_THAT(store->Read("key"), IsOk());
  EXPECT_EQ(machine.requests().size(), 1u);
}

TEST_F(CloudCredentialsTest, AzureFromAMachine) {
  const ScriptedHttpServer machine(
      {HttpAnswer(200, "Content-Type: application/json\r\n",
                  R"({"access_token":"of-the-machine","expires_on":"4102444800","token_type":"Bearer"})")});
  const ScriptedHttpServer azure({HttpAnswer(201, "ETag: \"1\"\r\n")});
  const std::unique_ptr<CloudStore> store =
      OpenCloudStore(fmt::format("az://container?account_name=a&allow_http=true&endpoint={}&msi_endpoint={}/token",
                                 azure.url(), machine.url()),
                     {}, clock_, random_)
          .value();
  EXPECT_THAT(PutBytes(*store, "key", AsBytes("text"), PutMode::kCreate), IsOk());
  EXPECT_THAT(azure.requests().front(), HasSubstr("authorization: bearer of-the-machine"));
}

// A command that gives the key for some time; each run of it adds a byte to `runs`.
struct Command {
  std::string path;
  std::string runs;
};

Command WriteCommand(const std::string& folder, const std::string& end) {
  Command command{.path = folder + "/command", .runs = folder + "/runs"};
  std::ofstream(command.path) << fmt::format(
      "#!/bin/sh\nprintf x >>{}\n"
      "echo '{{\"Version\":1,\"AccessKeyId\":\"tester\",\"SecretAccessKey\":\"{}\",\"Expiration\":\"'$({})'\"}}'\n",
      command.runs, kSecret, end);
  std::filesystem::permissions(command.path, std::filesystem::perms::owner_all);
  return command;
}

// Covers F4.
TEST_F(CloudCredentialsTest, TheyAreRenewedWhenTheServerSaysThatTheyHaveExpired) {
  const Command command = WriteCommand(home_.path(), fmt::format("echo {}", kFarEnd));
  Write("config", fmt::format("[profile job]\ncredential_process = {}\n", command.path));
  std::atomic<uint64_t> valid = 1;  // What the so-manieth run gave.
  proxy_->Set([&](const HttpMessage&) {
    return std::filesystem::file_size(command.runs) == valid ? Fault{} : Fault{FaultKind::kStatus, 400, "ExpiredToken"};
  });
  const std::unique_ptr<CloudStore> store = Open("&profile=job");
  uint64_t week = 0;
  for (int round = 0; round < 2; ++round) {
    valid = ++week;
    const std::string key = fmt::format("week-{}", week);
    Result<void> put = PutBytes(*store, key, AsBytes("text"), PutMode::kCreate);
    if (week > 1) {
      // The server has taken nothing: it may be sent again.
      EXPECT_THAT(put, IsError(ErrorCode::kUnavailable, HasSubstr("have expired")));
      put = PutBytes(*store, key, AsBytes("text"), PutMode::kCreate);
    }
    EXPECT_THAT(put, IsOk());
    valid = ++week;
    EXPECT_THAT(store->Read(key), IsOk());
    valid = ++week;
    EXPECT_THAT(store->List("", "", 10), IsOk());
    valid = ++week;
    EXPECT_THAT(store->Delete(std::vector<std::string>{key}), IsOk());
  }
}

// Covers F4.
TEST_F(CloudCredentialsTest, ThoseThatEndSoonAreRenewedInTime) {
  const Command command = WriteCommand(home_.path(), "date -u -d '+2 seconds' +%FT%TZ");
  Write("config", fmt::format("[profile job]\ncredential_process = {}\n", command.path));
  const std::unique_ptr<CloudStore> store = Open("&profile=job");
  ASSERT_THAT(PutBytes(*store, "key", AsBytes("text"), PutMode::kCreate), IsOk());
  const TimePoint end = After(clock_.Now(), std::chrono::seconds(3));
  while (clock_.Now() < end) {
    ASSERT_THAT(store->Read("key"), IsOk());
    clock_.SleepUntil(After(clock_.Now(), std::chrono::milliseconds(100)));
  }
  EXPECT_THAT(std::filesystem::file_size(command.runs), AllOf(Ge(2u), ::testing::Lt(20u)));
}

TEST_F(CloudCredentialsTest, WhereThereAreNoneItIsSaidSoon) {
  const TimePoint begun = clock_.Now();
  EXPECT_THAT(Use(), IsError(ErrorCode::kDenied, HasSubstr("no credentials: set AWS_ACCESS_KEY_ID")));
  EXPECT_THAT(Use("&profile=missing"), IsError(ErrorCode::kDenied, HasSubstr("profile=missing")));
  Write("config", "[profile job]\ncredential_process = /bin/false\n");
  EXPECT_THAT(Use("&profile=job"), IsError(ErrorCode::kDenied, HasSubstr("no credentials could be had")));
  EXPECT_LT(clock_.Now() - begun, std::chrono::seconds(30));
}

TEST_F(CloudCredentialsTest, NoMessageHoldsASecret) {
  const ScriptedHttpServer sts({HttpAnswer(403, "",
                                           "<ErrorResponse><Error><Code>AccessDenied</Code></Error>"
                                           "</ErrorResponse>")});
  Set("AWS_ENDPOINT_URL_STS", sts.url());
  Set("AWS_WEB_IDENTITY_TOKEN_FILE", Write("token", "SuperSecretToken"));
  Set("AWS_ROLE_ARN", "arn:aws:iam::1:role/r");
  EXPECT_THAT(Use(), IsError(ErrorCode::kDenied, Not(HasSubstr("SuperSecret"))));
  unsetenv("AWS_ROLE_ARN");
  unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
  Set("AWS_ACCESS_KEY_ID", "tester");
  Set("AWS_SECRET_ACCESS_KEY", "SuperSecretKey");
  EXPECT_THAT(Use(),
              IsError(ErrorCode::kDenied, AllOf(Not(HasSubstr("SuperSecret")), HasSubstr("check the access key"))));
}

}  // namespace
}  // namespace batchweave
