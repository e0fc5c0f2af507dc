#include "batchweave/testing/local_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "batchweave/base/check.h"
#include "batchweave/base/clock.h"
#include "batchweave/testing/loopback_http_server.h"

namespace batchweave {
namespace {

// One that nobody used a moment ago.
int FreePort() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  BW_CHECK(bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0);
  BW_CHECK(getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  close(probe);
  return ntohs(address.sin_port);
}

bool Listens(int port) {
  const int connection = ConnectLoopback(port);
  if (connection >= 0) close(connection);
  return connection >= 0;
}

// With what this process has itself.
std::vector<std::string> Environment(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Waits for the end of a program that is soon through.
bool Run(std::vector<std::string> command) {
  pid_t process = 0;
  std::vector<std::string> environment = Environment({});
  int status = 0;
  return posix_spawnp(&process, command.front().c_str(), nullptr, nullptr, Pointers(command).data(),
                      Pointers(environment).data()) == 0 &&
         waitpid(process, &status, 0) == process && status == 0;
}

const std::string kServersFolder = BATCHWEAVE_SERVERS;
const std::string kSourceFolder = BATCHWEAVE_CLOUD_TESTS;
constexpr std::string_view kKey = "dGVzdGVyLXNlY3JldA==";
constexpr std::string_view kToken = "tester-token";

}  // namespace

TestCertificates::TestCertificates() { BW_CHECK(Run({kSourceFolder + "/make_certificates.sh", folder_.path()})); }

TlsFiles TestCertificates::files(const std::string& name) const {
  return {.certificate = fmt::format("{}/{}.pem", folder_.path(), name),
          .key = fmt::format("{}/{}.key", folder_.path(), name)};
}

LocalServer::LocalServer() : port_(FreePort()), environment_(Environment({})) {}

std::unique_ptr<LocalServer> LocalServer::Versitygw() {
  std::unique_ptr<LocalServer> server = MakeVersitygw();
  if (server == nullptr) return nullptr;
  std::filesystem::create_directories(server->data_.path() + "/data/bucket");
  server->Start();
  return server;
}

std::unique_ptr<LocalServer> LocalServer::VersitygwVersioned() { return VersitygwWith("versioned"); }
std::unique_ptr<LocalServer> LocalServer::VersitygwLocked() { return VersitygwWith("locked"); }

std::unique_ptr<LocalServer> LocalServer::VersitygwWith(const std::string& bucket_kind) {
  std::unique_ptr<LocalServer> server = MakeVersitygw();
  if (server == nullptr) return nullptr;
  const std::string versions = server->data_.path() + "/versions";
  std::filesystem::create_directories(versions);
  server->command_.insert(server->command_.end() - 1, {"--versioning-dir", versions});
  server->Start();
  server->SetBucket({bucket_kind});
  return server;
}

std::unique_ptr<LocalServer> LocalServer::VersitygwTls(const TlsFiles& files) {
  std::unique_ptr<LocalServer> server = MakeVersitygw();
  if (server == nullptr) return nullptr;
  std::filesystem::create_directories(server->data_.path() + "/data/bucket");
  server->command_.insert(server->command_.begin() + 1, {"--cert", files.certificate, "--key", files.key});
  server->endpoint_scheme_ = "https";
  server->Start();
  return server;
}

std::unique_ptr<LocalServer> LocalServer::VersitygwWithUser() {
  std::unique_ptr<LocalServer> server = MakeVersitygw();
  if (server == nullptr) return nullptr;
  const std::string users = server->data_.path() + "/users";
  std::filesystem::create_directories(users);
  std::ofstream(users + "/users.json")
      << R"({"accessAccounts":{"limited":{"access":"limited","secret":"limited-secret","role":"user"}}})";
  server->command_.insert(server->command_.begin() + 1, {"--iam-dir", users});
  server->Start();
  server->SetBucket({"plain"});
  server->limited_user_ = "limited";
  server->limited_options_ = {{"access_key_id", "limited"}, {"secret_access_key", "limited-secret"}};
  return server;
}

std::unique_ptr<LocalServer> LocalServer::MakeVersitygw() {
  const std::string program = kServersFolder + "/versitygw";
  if (!std::filesystem::exists(program)) return nullptr;
  std::unique_ptr<LocalServer> server(new LocalServer());
  const std::string data = server->data_.path() + "/data";
  std::filesystem::create_directories(data);
  server->command_ = {program, "--port", fmt::format("127.0.0.1:{}", server->port_), "--keep-alive", "--quiet",
                      "posix", data};
  server->environment_ = Environment({"ROOT_ACCESS_KEY=tester", "ROOT_SECRET_KEY=tester-secret"});
  server->SpeakS3("tester", "tester-secret");
  return server;
}

std::unique_ptr<LocalServer> LocalServer::Minio() { return MinioWith("plain"); }
std::unique_ptr<LocalServer> LocalServer::MinioVersioned() { return MinioWith("versioned"); }
std::unique_ptr<LocalServer> LocalServer::MinioLocked() { return MinioWith("locked"); }

std::unique_ptr<LocalServer> LocalServer::MinioTls(const TlsFiles& files) {
  std::unique_ptr<LocalServer> server = MinioWith("plain");
  if (server == nullptr) return nullptr;
  server->Kill();
  // It speaks TLS where it finds these.
  const std::string certificates = server->data_.path() + "/certs";
  std::filesystem::copy_file(files.certificate, certificates + "/public.crt");
  std::filesystem::copy_file(files.key, certificates + "/private.key");
  server->endpoint_scheme_ = "https";
  server->Start();
  return server;
}

std::unique_ptr<LocalServer> LocalServer::MinioWith(const std::string& bucket_kind) {
  const std::string program = kServersFolder + "/minio";
  if (!std::filesystem::exists(program)) return nullptr;
  std::unique_ptr<LocalServer> server(new LocalServer());
  const std::string data = server->data_.path();
  std::filesystem::create_directories(data + "/certs");
  server->command_ = {
      program,       "server",        "--quiet",        "--address", fmt::format("127.0.0.1:{}", server->port_),
      "--certs-dir", data + "/certs", data + "/objects"};
  // Of the system's own disk it takes no part, but where it is tried out.
  server->environment_ = Environment(
      {"MINIO_ROOT_USER=tester", "MINIO_ROOT_PASSWORD=tester-secret", "MINIO_CI_CD=on", "MINIO_BROWSER=off"});
  server->SpeakS3("tester", "tester-secret");
  server->Start();
  server->SetBucket({bucket_kind});
  server->limited_user_ = "*";
  server->limited_options_ = {{"skip_signature", "true"}};
  return server;
}

void LocalServer::Allow(const std::vector<std::string>& actions) const {
  std::vector<std::string> words = {"allow", limited_user_};
  words.insert(words.end(), actions.begin(), actions.end());
  SetBucket(words);
}

void LocalServer::SpeakS3(const std::string& key, const std::string& secret) {
  scheme_ = "s3";
  query_ = "&region=us-east-1&path_style=true";
  options_ = {{"access_key_id", key}, {"secret_access_key", secret}};
  variables_ = {"AWS_ACCESS_KEY_ID=" + key, "AWS_SECRET_ACCESS_KEY=" + secret};
}

void LocalServer::SetBucket(const std::vector<std::string>& words) const {
  std::vector<std::string> command = {
      "python3", kSourceFolder + "/set_bucket.py", std::to_string(port_), "tester", "tester-secret", "bucket"};
  command.insert(command.end(), words.begin(), words.end());
  BW_CHECK(Run(command));
}

std::unique_ptr<LocalServer> LocalServer::Azurite() {
  const std::string node = kServersFolder + "/node";
  if (!std::filesystem::exists(node)) return nullptr;
  std::unique_ptr<LocalServer> server(new LocalServer());
  const std::string port = std::to_string(server->port_);
  server->command_ = {node,
                      kServersFolder + "/node_modules/azurite/dist/src/blob/main.js",
                      "--blobHost",
                      "127.0.0.1",
                      "--blobPort",
                      port,
                      "--location",
                      server->data_.path(),
                      "--silent",
                      "--disableTelemetry",
                      "--skipApiVersionCheck"};
  server->environment_ = Environment({fmt::format("AZURITE_ACCOUNTS=tester:{}", kKey)});
  server->scheme_ = "az";
  server->endpoint_path_ = "/tester";
  server->query_ = "&account_name=tester";
  server->options_ = {{"access_key", std::string(kKey)}};
  server->variables_ = {fmt::format("AZURE_STORAGE_ACCOUNT_KEY={}", kKey)};
  server->Start();
  BW_CHECK(Run({"python3", kSourceFolder + "/create_container.py", port, "tester", std::string(kKey), "bucket"}));
  return server;
}

std::unique_ptr<LocalServer> LocalServer::GcsStub() { return GcsStubWith(""); }

std::unique_ptr<LocalServer> LocalServer::GcsStubWith(const std::string& vice) {
  std::unique_ptr<LocalServer> server(new LocalServer());
  const std::string data = server->data_.path();
  std::filesystem::create_directories(data + "/bucket");
  server->command_ = {
      "python3", kSourceFolder + "/gcs_stub.py", std::to_string(server->port_), data, std::string(kToken), vice};
  server->scheme_ = "gs";
  server->options_ = {{"bearer_token", std::string(kToken)}};
  server->variables_ = {fmt::format("GOOGLE_BEARER_TOKEN={}", kToken)};
  server->Start();
  return server;
}

std::unique_ptr<LocalServer> LocalServer::S3rver() {
  const std::string node = kServersFolder + "/node";
  const std::string program = kServersFolder + "/node_modules/s3rver/bin/s3rver.js";
  if (!std::filesystem::exists(node) || !std::filesystem::exists(program)) return nullptr;
  std::unique_ptr<LocalServer> server(new LocalServer());
  const std::string data = server->data_.path();
  std::filesystem::create_directories(data + "/bucket");
  server->command_ = {node,          program,
                      "--directory", data,
                      "--address",   "127.0.0.1",
                      "--port",      std::to_string(server->port_),
                      "--silent",    "--no-vhost-buckets"};
  server->SpeakS3("S3RVER", "S3RVER");
  server->Start();
  return server;
}

std::unique_ptr<LocalServer> LocalServer::S3sFs() {
  const std::string program = kServersFolder + "/s3s-fs";
  if (!std::filesystem::exists(program)) return nullptr;
  std::unique_ptr<LocalServer> server(new LocalServer());
  const std::string data = server->data_.path();
  std::filesystem::create_directories(data + "/bucket");
  const std::string port = std::to_string(server->port_);
  server->command_ = {program,        "--host", "127.0.0.1",    "--port",        port,
                      "--access-key", "tester", "--secret-key", "tester-secret", data};
  server->SpeakS3("tester", "tester-secret");
  server->Start();
  return server;
}

LocalServer::~LocalServer() { Kill(); }

std::string LocalServer::Url(const std::string& path, int port) const {
  const std::string_view allowed = endpoint_scheme_ == "http" ? "&allow_http=true" : "";
  return fmt::format("{}://bucket/{}?endpoint={}://127.0.0.1:{}{}{}{}", scheme_, path, endpoint_scheme_, port,
                     endpoint_path_, allowed, query_);
}

void LocalServer::Kill() {
  if (process_ == 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = 0;
}

void LocalServer::Start() {
  // Who reads what the test prints would else wait for a server that outlives it.
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  BW_CHECK(posix_spawnp(&process_, command_.front().c_str(), &files, nullptr, Pointers(command_).data(),
                        Pointers(environment_).data()) == 0);
  posix_spawn_file_actions_destroy(&files);
  SystemClock clock;
  const TimePoint deadline = After(clock.Now(), std::chrono::minutes(2));  // The machine may be busy.
  while (!Listens(port_)) {
    BW_CHECK(clock.Now() < deadline && waitpid(process_, nullptr, WNOHANG) == 0);
    clock.SleepUntil(After(clock.Now(), std::chrono::milliseconds(20)));
  }
}

}  // namespace batchweave
