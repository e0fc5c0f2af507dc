// What is to happen in the run, and when. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/consumer/mesh.h"
#include "examples/demo/data/corpus.h"
#include "examples/demo/process/job_options.h"

namespace batchweave::demo {

struct Mesh {
  uint32_t dp = 1;
  uint32_t cp = 1;
};

// "dp=2 x cp=2"
std::string ToString(Mesh mesh);

// All places of a mesh, dp outermost.
std::vector<MeshRank> RanksOf(Mesh mesh);

// kill -9, of its first life.
struct Kill {
  std::string worker;  // By name.
  uint64_t at = 0;     // When it has come so far: a rank to this step, a producer to so many batches.
};

// Where one of `kills` meets the worker of this name.
std::optional<uint64_t> KilledAt(const std::vector<Kill>& kills, const std::string& worker);

// A job that reads the stream, under a group of its own.
struct ReadingPlan {
  std::string group;
  std::vector<Mesh> meshes;         // It runs on each in turn.
  std::vector<uint64_t> changes{};  // At which steps it goes from one to the next: one less than meshes.
  uint64_t checkpoint_every = 1;    // Steps, about.
  double slowness = 0;              // 1: it takes for a step just as long as the producers; 0: it is as fast as it can.
};

struct Plan {
  uint64_t steps = 0;  // Of the whole stream, about.
  ReadingPlan train;
  ReadingPlan eval;
  std::vector<Kill> kills;
};

// How a plan and everything else calls them.
std::string ProducerName(uint32_t part);
std::string RankName(const std::string& group, const MeshRank& rank);

// The demo's plan for a stream of about so many steps by so many producers: a trainer that changes its mesh half way, an
// evaluator that is slower, and on each of the two meshes a producer and a rank are killed.
Plan PlanFor(uint64_t steps, uint32_t producers);

// About how many steps the corpus gives: from one sample in many. Errors: as Corpus::Read and MakeSample.
Result<uint64_t> EstimateSteps(const Corpus& corpus, const Tokenizer& tokenizer, const PackingOptions& packing);

}  // namespace batchweave::demo
