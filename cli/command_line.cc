#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "cli/advice.h"
#include "cli/exit_code.h"

namespace batchweave::cli {
namespace {

constexpr const char* kVersion = "batchweave " BATCHWEAVE_VERSION;

constexpr const char* kStreamUrl =
    "the stream: its folder and its name, as ./runs/llm-7b, file:///data/runs/llm-7b or s3://bucket/runs/llm-7b "
    "(gs://, az://)";
constexpr const char* kFolderUrl =
    "the folder that holds the streams, as ./runs, file:///data/runs or s3://bucket/runs (gs://, az://)";
constexpr const char* kJsonHelp = "results as JSON on standard output, an error as a JSON object on standard error";

std::string ExitCodesHelp() {
  std::string text = "Exit codes:\n";
  for (const ExitCode& exit_code : kExitCodes) text += fmt::format("  {:>3}  {}\n", exit_code.code, exit_code.meaning);
  return text + "  130  interrupted\n";
}

// Plain decimal only: CLI11 by itself would take "-1" for 2^64 - 1 and "010" for 8.
std::string CheckNumber(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return fmt::format("not a whole number from 0 to 2^64 - 1: {}", text);
}

template <typename Value>
CLI::Option& AddNumber(CLI::App& app, const std::string& names, Value& value, const std::string& description) {
  CLI::Option* option = app.add_option(names, value, description);
  // In decimal whatever it begins with: CLI11 reads a leading 0 as octal.
  option->transform([](const std::string& text) {
    const size_t first = text.find_first_not_of('0');
    return first == std::string::npos ? text.substr(0, 1) : text.substr(first);
  });
  option->check(CLI::Validator([](std::string& text) { return CheckNumber(text); }, ""));
  return *option->type_name("N");
}

}  // namespace

Subcommand& Subcommand::Flag(const std::string& names, bool& value, const std::string& description) {
  app_.add_flag(names, value, description);
  return *this;
}

Subcommand& Subcommand::Number(const std::string& names, uint64_t& value, const std::string& description) {
  AddNumber(app_, names, value, description).capture_default_str();
  return *this;
}

Subcommand& Subcommand::Number(const std::string& names, std::optional<uint64_t>& value,
                               const std::string& description) {
  AddNumber(app_, names, value, description);
  return *this;
}

Subcommand& Subcommand::RequiredNumber(const std::string& names, uint64_t& value, const std::string& description) {
  AddNumber(app_, names, value, description).required();
  return *this;
}

Subcommand& Subcommand::Text(const std::string& names, std::string& value, const std::string& description) {
  app_.add_option(names, value, description)->type_name("TEXT");
  return *this;
}

Subcommand& Subcommand::Argument(const std::string& name, std::string& value, const std::string& description) {
  app_.add_option(name, value, description)->required()->type_name("");
  return *this;
}

Subcommand& Subcommand::Argument(const std::string& name, uint64_t& value, const std::string& description) {
  AddNumber(app_, name, value, description).required()->type_name("");
  return *this;
}

Subcommand& Subcommand::OptionalArgument(const std::string& name, std::string& value, const std::string& description) {
  app_.add_option(name, value, description)->type_name("");
  return *this;
}

Subcommand& Subcommand::OptionalArgument(const std::string& name, std::optional<uint64_t>& value,
                                         const std::string& description) {
  AddNumber(app_, name, value, description).type_name("");
  return *this;
}

CommandLine::CommandLine()
    : app_(std::make_unique<CLI::App>("Streams of training batches in an object store.", "batchweave")) {
  app_->require_subcommand(1);
  app_->set_version_flag("--version", kVersion);
  app_->footer(
      "Each command has a page of its own: batchweave COMMAND --help\n"
      "Results go to standard output, errors to standard error; with --json both are JSON, one object a line.\n\n" +
      ExitCodesHelp());
}

CommandLine::~CommandLine() = default;

Subcommand& CommandLine::Add(const CommandText& text, UrlOf url, Subcommand::Action action) {
  CLI::App* app = app_->add_subcommand(text.name, text.description);
  Subcommand& added = *subcommands_.emplace_back(std::make_unique<Subcommand>(*app, std::move(action)));
  app->add_option("URL", added.url_, url == UrlOf::kStream ? kStreamUrl : kFolderUrl)->required()->type_name("");
  app->add_flag("--json", json_, kJsonHelp);
  app->footer(fmt::format("Example:\n{}\n", text.examples));
  return added;
}

void CommandLine::Parse(int argc, const char* const* argv) { app_->parse(argc, argv); }

int CommandLine::Explain(const CLI::ParseError& error, std::span<const char* const> arguments) const {
  Console console(std::ranges::find(arguments, std::string_view("--json")) != arguments.end());
  const Subcommand* chosen = Chosen();
  if (error.get_exit_code() == 0) {
    const bool is_version = error.get_name() == "CallForVersion";
    console.Print(is_version          ? fmt::format("{}\n", kVersion)
                  : chosen != nullptr ? chosen->app_.help("batchweave")
                                      : app_->help());
    return console.Flush().ok() ? kDone : kFailed;
  }
  const std::string command = chosen == nullptr ? "batchweave" : "batchweave " + chosen->app_.get_name();
  console.Fail({.command = command,
                .exit_code = kWrongUse,
                .kind = std::string(ErrorCodeName(ErrorCode::kInvalidArgument)),
                .message = chosen == nullptr ? WhatIsMissing(arguments) : error.what(),
                .advice = fmt::format("how it is used: {} --help", command)});
  return kWrongUse;
}

// Where no subcommand was given that exists.
std::string CommandLine::WhatIsMissing(std::span<const char* const> arguments) const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Subcommand>& subcommand : subcommands_) names.push_back(subcommand->app_.get_name());
  std::string there_are = fmt::format("the commands are {}", fmt::join(names, ", "));
  if (arguments.empty()) return there_are;
  return fmt::format("no such command: {}: {}", arguments.front(), there_are);
}

int CommandLine::Run() {
  const Subcommand& chosen = *Chosen();
  Console console(json_);
  Result<void> done = chosen.action_(console, chosen.url_);
  if (done.ok()) done = console.Flush();
  if (done.ok()) return kDone;
  const Error& error = done.error();
  const std::string& name = chosen.app_.get_name();
  const int exit_code = ExitCodeOf(error.code);
  console.Fail({.command = "batchweave " + name,
                .exit_code = exit_code,
                .kind = std::string(ErrorCodeName(error.code)),
                .message = error.message,
                .advice = AdviceFor(error.code, name, chosen.url_)});
  return exit_code;
}

const Subcommand* CommandLine::Chosen() const {
  const auto parsed = [](const std::unique_ptr<Subcommand>& subcommand) { return subcommand->app_.parsed(); };
  const auto chosen = std::ranges::find_if(subcommands_, parsed);
  return chosen == subcommands_.end() ? nullptr : chosen->get();
}

}  // namespace batchweave::cli
