// Where a command's results and errors go.
//
// Results go to standard output: text, or with --json one JSON object (a line each where there are many). Errors go to
// standard error: text, or with --json one JSON object. Progress goes to standard error, where that is a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"

namespace batchweave::cli {

using Json = nlohmann::ordered_json;

// What a person reads and a script parses when a command fails.
struct Failure {
  std::string command;  // "batchweave show"
  int exit_code = 1;
  std::string kind;     // ErrorCodeName of the error.
  std::string message;  // What, which, and why.
  std::string advice;   // What to do; may be empty.
};

// Not safe for concurrent use.
class Console {
 public:
  explicit Console(bool json) : json_(json) {}

  // The results are to be JSON.
  bool json() const { return json_; }
  bool output_is_terminal() const;
  bool error_is_terminal() const;

  // To standard output, as it is.
  void Write(ByteView bytes);
  void Print(std::string_view text);
  // One line.
  void PrintJson(const Json& json);

  // Hands over what was written so far. Errors: kDenied (standard output does not take it: disk full, closed).
  Result<void> Flush();

  // To standard error, for people only: nothing with --json.
  void Note(std::string_view text);
  void Fail(const Failure& failure);

 private:
  const bool json_;
};

}  // namespace batchweave::cli
