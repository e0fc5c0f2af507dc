// No command ever says a secret: not when all is well, not when it fails, not as JSON.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "batchweave/testing/local_server.h"
#include "batchweave/testing/loopback_http_server.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/scripted_http_server.h"
#include "tests/cloud/command_on_server.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Command = std::vector<std::string>;

// Every subcommand, with what it needs; URL stands for that of the stream, FOLDER for that of its folder.
const std::vector<Command> kCommands = {
    {"create", "URL"},
    {"ls", "FOLDER"},
    {"groups", "URL", "create", "g", "--at", "0"},
    {"groups", "URL"},
    {"checkpoint", "URL", "g", "model", "0"},
    {"checkpoint", "URL", "g", "other", "0", "--pin"},
    {"release", "URL", "g", "model"},
    {"quarantine", "URL"},
    {"fence", "URL", "a", "--yes"},
    {"show", "URL"},
    {"show", "URL", "--step", "0"},
    {"tail", "URL"},
    {"cat", "URL", "--step", "0"},
    {"verify", "URL", "--deep"},
    {"upgrade", "URL"},
    {"doctor", "URL", "--quick"},
    {"reclaim", "URL"},
    {"seal", "URL"},
    {"delete", "URL", "--yes"},
};

struct Secrets {
  std::string scheme;
  std::vector<std::string> variables;
  std::vector<std::string> words;  // That nobody may see.
  std::string query;
};

const std::vector<Secrets> kSecrets = {
    {"s3",
     {"AWS_ACCESS_KEY_ID=tester", "AWS_SECRET_ACCESS_KEY=tester-secret", "AWS_SESSION_TOKEN=SuperSecretToken"},
     {"tester-secret", "SuperSecret"},
     "&region=us-east-1&path_style=true"},
    {"az", {"AZURE_STORAGE_SAS_KEY=sv=2021-08-06&sig=SuperSecretSignature"}, {"SuperSecret"}, "&account_name=tester"},
    {"az", {"AZURE_STORAGE_ACCOUNT_KEY=U3VwZXJTZWNyZXRLZXk="}, {"U3VwZXJTZWNyZXRLZXk"}, "&account_name=tester"},
    {"gs", {"GOOGLE_BEARER_TOKEN=SuperSecretToken"}, {"SuperSecret"}, ""},
};

class SecretsTest : public CommandOnServer {
 protected:
  // Runs every command on a server, in words and as JSON.
  void ExpectNoneSaid(const Secrets& secrets, const std::string& endpoint) {
    const std::string query =
        fmt::format("?endpoint={}&allow_http=true&request_timeout_ms=300{}", endpoint, secrets.query);
    for (const Command& command : kCommands) {
      for (const bool json : {false, true}) {
        Command words = command;
        for (std::string& word : words) {
          if (word == "URL") word = secrets.scheme + "://bucket/runs/a" + query;
          if (word == "FOLDER") word = secrets.scheme + "://bucket/runs" + query;
        }
        if (json) words.push_back("--json");
        const CommandRun run = Run(words, secrets.variables);
        for (const std::string& secret : secrets.words)
          EXPECT_THAT(run.said, Not(HasSubstr(secret))) << command.front();
        said_ += run.said;
      }
    }
  }

  std::string said_;
};

TEST_F(SecretsTest, EveryCommandIsTried) {
  const CommandRun run = Run({}, {});
  constexpr std::string_view kAre = "the commands are ";
  ASSERT_THAT(run.said, HasSubstr(std::string(kAre)));
  std::string names = run.said.substr(run.said.find(kAre) + kAre.size());
  names = names.substr(0, names.find('\n')) + ",";
  for (size_t end = 0; (end = names.find(',')) != std::string::npos; names.erase(0, end + 2)) {
    const std::string name = names.substr(0, end);
    EXPECT_TRUE(std::ranges::any_of(kCommands, [&](const Command& command) { return command.front() == name; }))
        << name;
  }
}

TEST_F(SecretsTest, NoneWhereAllIsWell) {
  const std::unique_ptr<LocalServer> server = LocalServer::Versitygw();
  if (server == nullptr) GTEST_SKIP() << "not installed";
  Secrets secrets = kSecrets.front();
  secrets.variables.pop_back();  // versitygw knows no session tokens.
  ExpectNoneSaid(secrets, fmt::format("http://127.0.0.1:{}", server->port()));
  EXPECT_THAT(said_, HasSubstr("created a in"));
}

TEST_F(SecretsTest, NoneWhereTheServerRefuses) {
  const ScriptedHttpServer refuses(
      {HttpAnswer(403, "", "<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>")});
  for (const Secrets& secrets : kSecrets) ExpectNoneSaid(secrets, refuses.url());
  EXPECT_THAT(said_, HasSubstr("status=403"));
}

TEST_F(SecretsTest, NoneWhereAServerSendsOnSomewhereElse) {
  const LoopbackHttpServer sends_on([](int connection, const HttpMessage& request) {
    const std::string to = fmt::format("Location: http://127.0.0.1:1{}\r\n", request.target());
    return SendAll(connection, HttpAnswer(307, to, request.target()));
  });
  const std::string url = fmt::format("http://127.0.0.1:{}", sends_on.port());
  for (const Secrets& secrets : kSecrets) ExpectNoneSaid(secrets, url);
}

TEST_F(SecretsTest, NoneWhereNobodyListens) {
  for (const Secrets& secrets : kSecrets) {
    const std::string url =
        secrets.scheme + "://bucket/runs?endpoint=http://127.0.0.1:1&allow_http=true" + secrets.query;
    const CommandRun run = Run({"ls", url}, secrets.variables);
    EXPECT_THAT(run.said, HasSubstr("cannot connect"));
    for (const std::string& secret : secrets.words) EXPECT_THAT(run.said, Not(HasSubstr(secret)));
  }
}

TEST_F(SecretsTest, NoneOfAUrlThatHoldsOne) {
  for (const char* url :
       {"s3://tester:SuperSecret@bucket/runs/a", "s3://tester:SuperSecret@bucket/.a",
        "http://tester:SuperSecret@127.0.0.1/a", "http://127.0.0.1/a?sig=SuperSecret",
        "s3://bucket/runs/a?secret_access_key=SuperSecret", "s3://bucket?secret_access_key=SuperSecret",
        "az://bucket/runs/a?account_name=a&sas_token=sig%3DSuperSecret"}) {
    for (const Command& command : kCommands) {
      Command words = command;
      for (std::string& word : words) {
        if (word == "URL" || word == "FOLDER") word = url;
      }
      EXPECT_THAT(Run(words, {}).said, Not(HasSubstr("SuperSecret"))) << command.front();
    }
  }
}

}  // namespace
}  // namespace batchweave
