// What a person does about an error.
#pragma once

#include <string>
#include <string_view>

#include "batchweave/base/error.h"

namespace batchweave::cli {

// One line, with a command to run where there is one; empty where the message says it all. `command` is the subcommand
// that failed, `url` what it was given.
std::string AdviceFor(ErrorCode code, std::string_view command, std::string_view url);

}  // namespace batchweave::cli
