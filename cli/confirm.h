// Asks a person before something that cannot be taken back.
#pragma once

#include <string>
#include <string_view>

#include "batchweave/base/result.h"
#include "cli/console.h"

namespace batchweave::cli {

// Goes on where `yes` (the option --yes), or where somebody at the terminal types `word`. `what` is the whole line that
// says what will happen. Errors: kInvalidArgument (something else was typed, or nobody is there to ask: nothing was
// changed).
Result<void> Confirm(Console& console, bool yes, std::string_view what, std::string_view word);

}  // namespace batchweave::cli
