#include <cstdio>

#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
namespace bw = batchweave;

bw::Result<void> Run(const char* url) {
  const auto env = BW_TRY(bw::OpenEnv(url));  // a directory, or "memory:"
  bw::Stream stream = BW_TRY(bw::Stream::Open(env->env(), "quickstart", {.create = true}));

  bw::Producer producer = BW_TRY(stream.OpenProducer("counter"));       // fences whoever held this name before
  const std::string number = std::to_string(producer.committed_seq());  // where this producer goes on
  bw::GlobalBatch batch({.dp = 2, .cp = 1});                            // two slices: one for each of two ranks
  BW_TRY(batch.Set({.dp = 0}, bw::ToBytes("left " + number)));
  BW_TRY(batch.Set({.dp = 1}, bw::ToBytes("right " + number)));
  BW_TRY(producer.Publish(std::move(batch), {.cursor = bw::ToBytes(number)}));  // with it, or not at all
  BW_TRY(producer.Flush());

  bw::Consumer rank = BW_TRY(stream.OpenConsumer({.rank = {.dp_rank = 1, .dp_size = 2}}));  // begins at step 0
  while (rank.position() < bw::Step{producer.committed_seq()}) {  // on a sealed stream: until Next() gives none
    const bw::RankBatch read = *BW_TRY(rank.Next());
    std::printf("%s\n", std::string(bw::AsText(read.slices()[0].bytes)).c_str());
  }
  return {};
}

int main(int argc, char** argv) {
  const bw::Result<void> result = Run(argc > 1 ? argv[1] : "memory:");
  if (!result.ok()) std::fprintf(stderr, "%s\n", ToString(result.error()).c_str());
  return result.ok() ? 0 : 1;
}
