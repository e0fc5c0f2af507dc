// Every subcommand: each has a file of its own and a line here, in the order of --help.
#pragma once

#include "cli/command_line.h"

namespace batchweave::cli {

using AddCommand = void(CommandLine& line);

AddCommand AddCreate, AddLs, AddShow, AddTail, AddCat, AddSeal, AddVerify;
AddCommand AddGroups, AddCheckpoint, AddRelease, AddReclaim, AddFence, AddQuarantine, AddDelete, AddUpgrade, AddDoctor;

inline constexpr AddCommand* kCommands[] = {
    AddCreate,     AddLs,      AddShow,    AddTail,  AddCat,        AddVerify, AddSeal,    AddGroups,
    AddCheckpoint, AddRelease, AddReclaim, AddFence, AddQuarantine, AddDelete, AddUpgrade, AddDoctor,
};

}  // namespace batchweave::cli
