// Every subcommand: each has a file of its own and a line here, in the order of --help.
#pragma once

#include "cli/command_line.h"

namespace batchweave::cli {

using AddCommand = void(CommandLine& line);

AddCommand AddCreate, AddLs, AddShow, AddTail, AddCat, AddSeal, AddVerify;

inline constexpr AddCommand* kCommands[] = {AddCreate, AddLs, AddShow, AddTail, AddCat, AddSeal, AddVerify};

}  // namespace batchweave::cli
