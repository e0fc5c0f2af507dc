// Servers that speak TLS: whom the command trusts, and what it says of those whom it does not.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "batchweave/testing/local_server.h"
#include "tests/cloud/command_on_server.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Ten seconds are promised; the machine may be busy with other things.
constexpr Duration kSoon = std::chrono::seconds(20);

struct TlsCase {
  std::string name;
  std::unique_ptr<LocalServer> (*start)(const TlsFiles& files);
  std::unique_ptr<LocalServer> (*start_plain)();
};

std::string TlsName(const ::testing::TestParamInfo<TlsCase>& info) { return info.param.name; }

class CertificateTest : public CommandOnServer {
 protected:
  CommandRun Run(const LocalServer& server, const std::string& command, const std::string& url,
                 const std::string& variable = "NOTHING=") {
    std::vector<std::string> variables = server.variables();
    variables.push_back(variable);
    return CommandOnServer::Run({command, url}, variables);
  }

  // At the first attempt, to read and to write.
  static void ExpectFails(const std::string& url, const std::string& cause, const std::string& next) {
    SystemClock clock;
    SystemRandom random;
    const StorageOptions key = {{"access_key_id", "tester"}, {"secret_access_key", "tester-secret"}};
    const auto store = OpenCloudStore(url, key, clock, random, {.attempts_max = 1}).value();
    const Result<Bytes> read = store->Read("a");
    const Result<void> put = PutBytes(*store, "a", AsBytes("text"), PutMode::kCreate);
    ASSERT_TRUE(!read.ok() && !put.ok()) << cause;
    EXPECT_THAT(read.error().message, AllOf(HasSubstr(cause), HasSubstr(next)));
    EXPECT_THAT(put.error().message, AllOf(HasSubstr(cause), HasSubstr(next)));
  }

  const TestCertificates certificates_;
};

class TlsTest : public CertificateTest, public ::testing::WithParamInterface<TlsCase> {};

INSTANTIATE_TEST_SUITE_P(Cloud, TlsTest,
                         ::testing::Values(TlsCase{"versitygw", LocalServer::VersitygwTls, LocalServer::Versitygw},
                                           TlsCase{"minio", LocalServer::MinioTls, LocalServer::Minio}),
                         TlsName);

TEST_P(TlsTest, ACertificateOfAnAuthorityThatIsNamedIsTrusted) {
  const std::unique_ptr<LocalServer> server = GetParam().start(certificates_.files("good"));
  if (server == nullptr) GTEST_SKIP() << "not installed";
  const std::string url = server->Url("runs/a");
  const std::string authority = certificates_.files("authority").certificate;
  const CommandRun created = Run(*server, "create", url + "&ca_bundle=" + authority);
  EXPECT_EQ(created.exit_code, 0) << created.said;
  for (const char* variable : {"AWS_CA_BUNDLE=", "SSL_CERT_FILE="}) {
    const CommandRun verified = Run(*server, "verify", url, variable + authority);
    EXPECT_EQ(verified.exit_code, 0) << variable << verified.said;
  }
  const CommandRun untrusting = Run(*server, "show", url);
  EXPECT_NE(untrusting.exit_code, 0);
  EXPECT_THAT(untrusting.said, HasSubstr("UnknownIssuer: the server's certificate is not trusted"));
  EXPECT_THAT(untrusting.said, HasSubstr("ca_bundle in the URL, AWS_CA_BUNDLE"));
  EXPECT_LT(untrusting.took, kSoon) << untrusting.said;
}

TEST_P(TlsTest, PlainHttpToOneThatSpeaksTlsAndTheOtherWayRound) {
  const std::unique_ptr<LocalServer> server = GetParam().start(certificates_.files("good"));
  const std::unique_ptr<LocalServer> plain = GetParam().start_plain();
  if (server == nullptr || plain == nullptr) GTEST_SKIP() << "not installed";
  const std::string url = "s3://bucket?path_style=true&endpoint=";
  ExpectFails(fmt::format("{}http://127.0.0.1:{}&allow_http=true", url, server->port()), "speaks TLS", "https://");
  ExpectFails(fmt::format("{}https://127.0.0.1:{}", url, plain->port()), "the server does not speak TLS",
              "http:// needs allow_http=true");
}

// Whoever shows it.
TEST_F(CertificateTest, WhatIsWrongWithACertificateIsNamed) {
  struct Case {
    std::string certificate;
    std::string trusted;
    std::string cause;
    std::string next;
  };
  for (const Case& item : std::initializer_list<Case>{
           {"expired", "authority", "certificate expired", "renew the server's certificate"},
           {"other_host", "authority", "only valid for DnsName(\"store.example.com\")", "in the endpoint of the URL"},
           {"self_signed", "self_signed", "CaUsedAsEndEntity", "basicConstraints=CA:FALSE"}}) {
    const std::unique_ptr<LocalServer> server = LocalServer::VersitygwTls(certificates_.files(item.certificate));
    if (server == nullptr) GTEST_SKIP() << "not installed";
    const std::string bundle = "&ca_bundle=" + certificates_.files(item.trusted).certificate;
    ExpectFails(server->Url("runs") + bundle, item.cause, item.next);
  }
}

TEST_F(CertificateTest, AFileThatHoldsNoCertificatesIsNamed) {
  const std::string url = "s3://bucket/runs/a?region=us-east-1&ca_bundle=";
  for (const std::string& path : {std::string("/none"), certificates_.files("good").key}) {
    const CommandRun run = CommandOnServer::Run({"show", url + path}, {});
    EXPECT_THAT(run.said, HasSubstr("certificates of authorities as PEM: ca_bundle=" + path));
  }
}

}  // namespace
}  // namespace batchweave
