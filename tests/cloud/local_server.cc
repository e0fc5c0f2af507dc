#include "tests/cloud/local_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "batchweave/base/check.h"
#include "batchweave/base/clock.h"

namespace batchweave {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// One that nobody used a moment ago.
int FreePort() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  BW_CHECK(bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0);
  BW_CHECK(getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  close(probe);
  return ntohs(address.sin_port);
}

bool Listens(int port) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  const bool connected = connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(client);
  return connected;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::unique_ptr<LocalServer> LocalServer::Versitygw() {
  const std::string program = std::string(BATCHWEAVE_SERVERS) + "/versitygw";
  if (!std::filesystem::exists(program)) return nullptr;
  std::unique_ptr<LocalServer> server(new LocalServer());
  const std::string data = server->data_.path();
  std::filesystem::create_directories(data + "/bucket");
  server->port_ = FreePort();
  server->command_ = {program, "--port", fmt::format("127.0.0.1:{}", server->port_), "--keep-alive", "--quiet",
                      "posix", data};
  server->environment_ = {"ROOT_ACCESS_KEY=tester", "ROOT_SECRET_KEY=tester-secret"};
  server->query_ =
      fmt::format("endpoint=http://127.0.0.1:{}&region=us-east-1&path_style=true&allow_http=true", server->port_);
  server->options_ = {{"access_key_id", "tester"}, {"secret_access_key", "tester-secret"}};
  server->Start();
  return server;
}

LocalServer::~LocalServer() { Kill(); }

std::string LocalServer::Url(const std::string& path) const { return fmt::format("s3://bucket/{}?{}", path, query_); }

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
  BW_CHECK(posix_spawn(&process_, command_.front().c_str(), &files, nullptr, Pointers(command_).data(),
                       Pointers(environment_).data()) == 0);
  posix_spawn_file_actions_destroy(&files);
  SystemClock clock;
  const TimePoint deadline = After(clock.Now(), std::chrono::seconds(30));
  while (!Listens(port_)) {
    BW_CHECK(clock.Now() < deadline && waitpid(process_, nullptr, WNOHANG) == 0);
    clock.SleepUntil(After(clock.Now(), std::chrono::milliseconds(20)));
  }
}

}  // namespace batchweave
