// Runs the command `batchweave` with an environment of its own, and takes down all that it says.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "batchweave/base/clock.h"
#include "batchweave/testing/temporary_directory.h"

namespace batchweave {

struct CommandRun {
  int exit_code = -1;
  std::string said;  // On both outputs.
  Duration took{};
};

class CommandOnServer : public ::testing::Test {
 protected:
  // `variables` as "NAME=value"; of this process's own only PATH is there.
  CommandRun Run(const std::vector<std::string>& arguments, std::vector<std::string> variables) {
    std::vector<std::string> words = arguments;
    words.insert(words.begin(), BATCHWEAVE_BINARY);
    variables.push_back("PATH=/usr/bin:/bin");
    variables.push_back("HOME=" + home_.path());
    variables.push_back("AWS_EC2_METADATA_DISABLED=true");
    const std::string out = home_.path() + "/said";
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    SystemClock clock;
    const TimePoint begun = clock.Now();
    pid_t process = 0;
    EXPECT_EQ(posix_spawn(&process, words.front().c_str(), &files, nullptr, Pointers(words).data(),
                          Pointers(variables).data()),
              0);
    posix_spawn_file_actions_destroy(&files);
    int status = 0;
    waitpid(process, &status, 0);
    std::ostringstream said;
    said << std::ifstream(out).rdbuf();
    return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .said = said.str(),
            .took = clock.Now() - begun};
  }

  const TemporaryDirectory home_;

 private:
  static std::vector<char*> Pointers(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
  }
};

}  // namespace batchweave
