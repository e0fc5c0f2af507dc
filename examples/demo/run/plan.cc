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

std::string RankName(const std::string& group, const MeshRank& rank) {
  return fmt::format("{}-{}.{}-of-{}x{}", group, rank.dp_rank, rank.cp_rank, rank.dp_size, rank.cp_size);
}

std::vector<MeshRank> RanksOf(Mesh mesh) {
  std::vector<MeshRank> ranks;
  for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
    for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
      ranks.push_back({.dp_rank = dp, .dp_size = mesh.dp, .cp_rank = cp, .cp_size = mesh.cp});
    }
  }
  return ranks;
}

std::optional<uint64_t> KilledAt(const std::vector<Kill>& kills, const std::string& worker) {
  const auto kill = std::ranges::find(kills, worker, &Kill::worker);
  return kill == kills.end() ? std::nullopt : std::optional(kill->at);
}

Plan PlanFor(uint64_t steps, uint32_t producers) {
  const ReadingPlan train{.group = "train",
                          .meshes = {{.dp = 2, .cp = 2}, {.dp = 4, .cp = 1}},
                          .changes = {steps / 2},
                          .checkpoint_every = std::max<uint64_t>(steps / 10, 1)};
  const ReadingPlan eval{.group = "eval",
                         .meshes = {{.dp = 1, .cp = 1}},
                         .checkpoint_every = std::max<uint64_t>(steps / 6, 1),
                         .slowness = 1.15};
  const std::string first_rank = RankName(train.group, RanksOf(train.meshes[0])[2]);
  const std::string second_rank = RankName(train.group, RanksOf(train.meshes[1])[2]);
  const auto batches_at = [&](uint64_t percent) { return std::max<uint64_t>(steps * percent / 100 / producers, 1); };
  return {.steps = steps,
          .train = train,
          .eval = eval,
          .kills = {{.worker = ProducerName(1), .at = batches_at(15)},
                    {.worker = first_rank, .at = steps * 25 / 100 + 3},
                    {.worker = second_rank, .at = steps * 60 / 100 + 5},
                    {.worker = ProducerName(2), .at = batches_at(70)}}};
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
