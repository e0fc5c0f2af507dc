// What a person gets wrong, and networks do, is told with its cause and the next step, and soon.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "batchweave/testing/local_server.h"
#include "batchweave/testing/scripted_http_server.h"
#include "tests/cloud/command_on_server.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

// Ten seconds are promised; the machine may be busy with other things.
constexpr Duration kSoon = std::chrono::seconds(20);

const std::vector<std::string> kKey = {"AWS_ACCESS_KEY_ID=tester", "AWS_SECRET_ACCESS_KEY=tester-secret"};

class BadInputTest : public CommandOnServer {
 protected:
  // Each of the commands says `cause` and `next`, and ends soon.
  void Expect(const std::string& query, const std::string& cause, const std::string& next,
              const std::vector<std::string>& variables = kKey,
              const std::vector<std::string>& commands = {"show", "create", "verify"}) {
    const std::string url = "s3://bucket/runs/a?region=us-east-1&path_style=true&" + query;
    for (const std::string& command : commands) {
      const CommandRun run = Run({command, url}, variables);
      EXPECT_NE(run.exit_code, 0) << command;
      EXPECT_THAT(run.said, HasSubstr(cause)) << command;
      EXPECT_THAT(run.said, HasSubstr(next)) << command;
      EXPECT_LT(run.took, kSoon) << command << ": " << run.said;
    }
  }

  static std::string Plain(const std::string& endpoint) { return fmt::format("allow_http=true&endpoint={}", endpoint); }

  // Of a server that answers all with an error as S3 words it.
  void ExpectOfAnswer(int status, std::string_view code, const std::string& next) {
    const ScriptedHttpServer server({HttpAnswer(
        status, "Content-Type: application/xml\r\nLocation: http://127.0.0.1:1/\r\n",
        fmt::format("<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>as S3 says</Message></Error>", code))});
    Expect(Plain(server.url()), fmt::format("status={}", status), next);
  }
};

TEST_F(BadInputTest, WrongBucketKeyAndSignature) {
  const std::unique_ptr<LocalServer> server = LocalServer::Versitygw();
  if (server == nullptr) GTEST_SKIP() << "not installed";
  const std::string endpoint = Plain(fmt::format("http://127.0.0.1:{}", server->port()));
  Expect(endpoint, "check the access key", "and its secret", {"AWS_ACCESS_KEY_ID=nobody", "AWS_SECRET_ACCESS_KEY=x"});
  Expect(endpoint, "check the access key", "and its secret", {"AWS_ACCESS_KEY_ID=tester", "AWS_SECRET_ACCESS_KEY=x"});
  Expect(endpoint, "no credentials", "set AWS_ACCESS_KEY_ID", {});
  Expect(endpoint + "&region=far-north-7", "status=400", "check the region");
  const CommandRun run =
      Run({"ls", "s3://other/runs?region=us-east-1&path_style=true&" + endpoint}, server->variables());
  EXPECT_THAT(run.said, HasSubstr("create the bucket, or mend the URL"));
}

TEST_F(BadInputTest, WhatS3AnswersIsExplained) {
  ExpectOfAnswer(400, "AuthorizationHeaderMalformed", "check the region");
  ExpectOfAnswer(403, "RequestTimeTooSkewed", "set this machine's clock");
  ExpectOfAnswer(403, "SignatureDoesNotMatch", "check the access key and its secret");
  ExpectOfAnswer(400, "ExpiredToken", "get new ones");
  ExpectOfAnswer(301, "PermanentRedirect", "check the region and the endpoint");
  ExpectOfAnswer(307, "TemporaryRedirect", "check the region and the endpoint");
  ExpectOfAnswer(407, "", "HTTPS_PROXY");
}

TEST_F(BadInputTest, NoRightToListOrToDelete) {
  const ScriptedHttpServer denies(
      {HttpAnswer(403, "", "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")});
  const std::string query = "?region=us-east-1&" + Plain(denies.url());
  EXPECT_THAT(Run({"ls", "s3://bucket/runs" + query}, kKey).said, HasSubstr("s3:ListBucket"));
  EXPECT_THAT(Run({"show", "s3://bucket/runs/a" + query}, kKey).said, HasSubstr("s3:GetObject"));
}

TEST_F(BadInputTest, NobodyListensOrAnswers) {
  Expect(Plain("http://127.0.0.1:1"), "cannot connect", "check the endpoint in the URL", kKey, {"create"});
  const ScriptedHttpServer mute({std::string(kNoHttpAnswer)});
  Expect(Plain(mute.url()), "no answer within", "try again", kKey, {"create"});
}

TEST_F(BadInputTest, WithoutCertificatesOfAuthorities) {
  std::vector<std::string> variables = kKey;
  variables.push_back("SSL_CERT_FILE=" + home_.path() + "/none");
  variables.push_back("SSL_CERT_DIR=" + home_.path() + "/none");
  Expect("endpoint=https://127.0.0.1:1", "certificate", "install the package ca-certificates", variables);
}

TEST_F(BadInputTest, AProxyInBetween) {
  const ScriptedHttpServer proxy({HttpAnswer(407, "Proxy-Authenticate: Basic\r\n")});
  std::vector<std::string> variables = kKey;
  variables.push_back("HTTPS_PROXY=" + proxy.url());
  Expect("endpoint=https://store.example.com", "proxy", "check HTTPS_PROXY and NO_PROXY", variables, {"show"});
  variables.back() = "HTTPS_PROXY=http://127.0.0.1:1";
  Expect("endpoint=https://store.example.com", "cannot connect", "HTTPS_PROXY", variables, {"show"});
}

}  // namespace
}  // namespace batchweave
