// The subcommands, what they are given, and how they end. Hides CLI11 from the commands.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/result.h"
#include "cli/console.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace batchweave::cli {

// What the one positional argument names.
enum class UrlOf { kStream, kFolder };

struct CommandText {
  std::string name;         // "show"
  std::string description;  // One line.
  std::string examples;     // Whole lines, set in by two spaces.
};

// One subcommand. Every one has a URL, --json and --help. `names` are as "-n,--count"; references must outlive it.
class Subcommand {
 public:
  // Does the work once the command line was read.
  using Action = std::function<Result<void>(Console& console, const std::string& url)>;

  Subcommand(CLI::App& app, Action action) : app_(app), action_(std::move(action)) {}

  Subcommand& Flag(const std::string& names, bool& value, const std::string& description);
  Subcommand& Number(const std::string& names, uint64_t& value, const std::string& description);
  Subcommand& Number(const std::string& names, std::optional<uint64_t>& value, const std::string& description);
  Subcommand& RequiredNumber(const std::string& names, uint64_t& value, const std::string& description);
  Subcommand& Text(const std::string& names, std::string& value, const std::string& description);

  // Positional arguments, after the URL, in the order of the calls. `name` as "GROUP".
  Subcommand& Argument(const std::string& name, std::string& value, const std::string& description);
  Subcommand& Argument(const std::string& name, uint64_t& value, const std::string& description);
  Subcommand& OptionalArgument(const std::string& name, std::string& value, const std::string& description);
  Subcommand& OptionalArgument(const std::string& name, std::optional<uint64_t>& value, const std::string& description);

 private:
  friend class CommandLine;

  CLI::App& app_;
  Action action_;
  std::string url_;
};

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();

  // The URL is `url` of the action.
  Subcommand& Add(const CommandText& text, UrlOf url, Subcommand::Action action);

  // Reads the arguments. Throws CLI::ParseError (give it to Explain): CLI11 has no other way.
  void Parse(int argc, const char* const* argv);

  // Prints help, or what is wrong with the arguments (without the program's name), and returns the exit code.
  int Explain(const CLI::ParseError& error, std::span<const char* const> arguments) const;

  // Runs the subcommand that was asked for; prints its error. Returns the exit code.
  int Run();

 private:
  const Subcommand* Chosen() const;
  std::string WhatIsMissing(std::span<const char* const> arguments) const;

  std::unique_ptr<CLI::App> app_;
  std::vector<std::unique_ptr<Subcommand>> subcommands_;
  bool json_ = false;
};

}  // namespace batchweave::cli
