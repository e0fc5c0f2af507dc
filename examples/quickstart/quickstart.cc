#include <cstdio>
#include <string>

#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"

namespace bw = batchweave;

bw::Result<void> Run(const char* url) {
  const auto env = BW_TRY(bw::OpenEnv(url));  // a directory, or "memory:"
  bw::Stream stream = BW_TRY(bw::Stream::Open(env->env(), "quickstart", {.create = true}));

  bw::Producer producer = BW_TRY(stream.OpenProducer("counter"));  // fences whoever held this name before
  uint64_t next = producer.committed_seq();                        // where this producer goes on
  for (const uint64_t end = next + 3; next < end; ++next) {
    bw::GlobalBatch batch({.dp = 2, .cp = 1});  // two slices: the first for rank 0, the second for rank 1
    BW_TRY(batch.Set({.dp = 0, .cp = 0}, bw::ToBytes("left " + std::to_string(next))));
    BW_TRY(batch.Set({.dp = 1, .cp = 0}, bw::ToBytes("right " + std::to_string(next))));
    const bw::Bytes cursor = bw::ToBytes(std::to_string(next + 1));  // committed with the batch, or neither is
    BW_TRY(producer.Publish(std::move(batch), {.cursor = cursor, .samples = 2}));
  }
  BW_TRY(producer.Flush());

  bw::Consumer rank = BW_TRY(stream.OpenConsumer({.position = bw::Step{0}, .rank = {.dp_rank = 1, .dp_size = 2}}));
  while (rank.position() < bw::Step{producer.committed_seq()}) {  // or until Next() gives none: the stream was sealed
    const bw::RankBatch batch = *BW_TRY(rank.Next());
    const std::string text(bw::AsText(batch.slices().front().bytes));
    std::printf("step %d: %s\n", static_cast<int>(batch.step().value), text.c_str());
  }
  return {};
}

int main(int argc, char** argv) {
  const bw::Result<void> result = Run(argc > 1 ? argv[1] : "memory:");
  if (!result.ok()) std::fprintf(stderr, "%s\n", ToString(result.error()).c_str());
  return result.ok() ? 0 : 1;
}
