#include "examples/demo/run/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "examples/demo/data/sample.h"

namespace batchweave::demo {
namespace {

// Enough for an estimate that is right to some percent, in half a second.
constexpr size_t kSamplesLookedAt = 150;

}  // namespace

std::string ToString(Mesh mesh) { return fmt::format("dp={} x cp={}", mesh.dp, mesh.cp); }

std::string ProducerName(uint32_t part) { return fmt::format("tokenizer-{}", part); }

std::string RankName(Mesh mesh, const MeshRank& rank) {
  return fmt::format("rank-{}.{}-of-{}x{}", rank.dp_rank, rank.cp_rank, mesh.dp, mesh.cp);
}

Plan PlanFor(uint64_t steps) {
  const Mesh first{.dp = 2, .cp = 2};
  const Mesh second{.dp = 4, .cp = 1};
  return {.steps = steps,
          .meshes = {first, second},
          .changes = {steps / 2},
          .kills = {{.worker = ProducerName(1), .step = steps * 15 / 100},
                    {.worker = RankName(first, {.dp_rank = 1, .cp_rank = 0}), .step = steps * 25 / 100 + 3},
                    {.worker = RankName(second, {.dp_rank = 2, .cp_rank = 0}), .step = steps * 60 / 100 + 5},
                    {.worker = ProducerName(2), .step = steps * 70 / 100}}};
}

Result<uint64_t> EstimateSteps(const Corpus& corpus, const Tokenizer& tokenizer, const PackingOptions& packing) {
  const std::vector<SampleRef>& samples = corpus.samples();
  const size_t stride = std::max<size_t>(1, samples.size() / kSamplesLookedAt);
  uint64_t looked_at = 0;
  uint64_t positions = 0;
  for (size_t i = 0; i < samples.size(); i += stride) {
    const Document document = BW_TRY(corpus.Read(samples[i]));
    positions += BW_TRY(MakeSample(IdOf(samples[i]), document, tokenizer)).length();
    ++looked_at;
  }
  const uint64_t positions_a_step = uint64_t{packing.sequence_length} * packing.grid.dp;
  return looked_at == 0 ? 0 : positions * samples.size() / looked_at / positions_a_step;
}

}  // namespace batchweave::demo
