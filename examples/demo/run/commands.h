// The command lines of the programs that the demo runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "batchweave/format/types.h"
#include "examples/demo/process/child.h"
#include "examples/demo/process/job_options.h"
#include "examples/demo/run/plan.h"

namespace batchweave::demo {

class Commands {
 public:
  // `programs` is the folder of demo_producer and the others, `batchweave` the path of the command line tool.
  Commands(JobOptions job, std::string programs, std::string batchweave);

  struct RankPlace {
    MeshRank rank{};
    std::string group{};
    Session session{};
    uint64_t start_step = 0;
    std::optional<uint64_t> end_step{};  // None: the end of the stream.
    uint64_t pace_ms = 0;
  };

  Child::Command Producer(uint32_t part, uint64_t pace_ms) const;
  Child::Command Rank(const RankPlace& place) const;
  Child::Command Reference() const;
  Child::Command Verify() const;

  // Where a rank saves its record, and the reference too.
  std::string RecordOf(const std::string& group, const MeshRank& rank) const;
  std::string RecordOfReference() const;

  // For a person to type, with paths as seen from the current folder.
  std::string ForPeople(std::string_view subcommand) const;
  std::string StreamUrl() const;

 private:
  Child::Command Make(std::string name, std::string program) const;

  const JobOptions job_;
  const std::string programs_;
  const std::string batchweave_;
};

}  // namespace batchweave::demo
