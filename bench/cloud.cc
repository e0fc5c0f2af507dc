// The benchmark `cloud`: how fast streams in S3 are read and written, compared with plain requests to the same server.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "batchweave/base/check.h"
#include "batchweave/store/cloud/cloud_store.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/local_server.h"
#include "bench/benchmark.h"
#include "bench/measure.h"
#include "bench/raw_http.h"
#include "bench/sample_stream.h"

namespace batchweave::bench {
namespace {

constexpr uint64_t kSliceBytes = 8 * kMiB;
constexpr uint64_t kBatchBytes = 64 * kMiB;
constexpr size_t kInFlight[] = {1, 4, 16};
// The memory is measured over so many rounds: 10 GiB of the usual size.
constexpr uint64_t kPassedRounds = 40;
// Comparisons that share the time.
constexpr int kComparisons = 2;

Target AtLeast(double limit) { return {.kind = Target::Kind::kAtLeast, .limit = limit}; }
Target AtMost(double limit) { return {.kind = Target::Kind::kAtMost, .limit = limit}; }
Target Exactly(double limit) { return {.kind = Target::Kind::kExactly, .limit = limit}; }

Duration CpuTime() {
  rusage usage{};
  BW_CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  const auto of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// The most that this process ever held, in MiB.
double PeakMebibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

// A server, and a stream on it, by one store.
struct Bench {
  std::unique_ptr<LocalServer> server;
  SystemClock clock;
  SystemRandom random;
  SystemThreads threads;
  std::unique_ptr<CloudStore> store;
  std::optional<RawHttp> raw;

  Env env() { return {.store = *store, .clock = clock, .random = random, .threads = threads}; }
};

Result<std::unique_ptr<Bench>> Start() {
  auto bench = std::make_unique<Bench>();
  bench->server = LocalServer::Versitygw();
  if (bench->server == nullptr) {
    return Error{ErrorCode::kNotFound, "versitygw is not installed: make bench-cloud installs it"};
  }
  const StorageOptions& options = bench->server->options();
  bench->store = BW_TRY(OpenCloudStore(bench->server->Url("bench"), options, bench->clock, bench->random));
  bench->raw.emplace(fmt::format("http://127.0.0.1:{}/bucket", bench->server->port()), "us-east-1", options[0].second,
                     options[1].second);
  return bench;
}

struct Passed {
  Duration took{};
  Duration cpu{};
};

// `side` by each number in flight: the fastest.
template <typename Side>
Result<Passed> Best(Bench& bench, Side side) {
  std::optional<Passed> best;
  for (const size_t in_flight : kInFlight) {
    const Duration cpu = CpuTime();
    const TimePoint began = bench.clock.Now();
    const Duration took = BW_TRY(side(in_flight));
    // What was not timed (opening) is little, and in both.
    const Passed passed{.took = took, .cpu = CpuTime() - cpu};
    BW_CHECK(took <= bench.clock.Now() - began);
    if (!best || passed.took < best->took) best = passed;
  }
  return *best;
}

// One round of both sides, in turns with others; medians of the ratios.
struct Ratios {
  std::vector<double> speed;
  std::vector<double> cpu;
  std::vector<double> bytes_per_s;
  std::vector<double> raw_bytes_per_s;

  void Add(const Passed& ours, const Passed& plain, uint64_t bytes) {
    speed.push_back(Seconds(plain.took) / Seconds(ours.took));
    cpu.push_back(Seconds(ours.cpu) / Seconds(plain.cpu));
    bytes_per_s.push_back(Speed(static_cast<double>(bytes), ours.took));
    raw_bytes_per_s.push_back(Speed(static_cast<double>(bytes), plain.took));
  }
};

template <typename Ours, typename Plain>
Result<Ratios> Measure(Bench& bench, const Settings& settings, uint64_t bytes, Ours ours, Plain plain) {
  Ratios ratios;
  const TimePoint end = After(bench.clock.Now(), settings.time_max / kComparisons);
  for (size_t round = 0; round <= settings.rounds_max; ++round) {
    if (ratios.speed.size() >= kRoundsMin && bench.clock.Now() >= end) break;
    const Passed by_us = BW_TRY(Best(bench, ours));
    const Passed plainly = BW_TRY(Best(bench, plain));
    if (round > 0) ratios.Add(by_us, plainly, bytes);  // The first warms up.
  }
  return ratios;
}

Result<Duration> Consume(Stream& stream, Clock& clock, size_t in_flight, uint64_t steps) {
  ConsumerOptions options{.prefetch_steps_max = static_cast<uint32_t>(2 * in_flight),
                          .prefetch_threads = static_cast<uint32_t>(in_flight)};
  Consumer consumer = BW_TRY(stream.OpenConsumer(options));
  const TimePoint began = clock.Now();
  for (uint64_t step = 0; step < steps; ++step) {
    const std::optional<RankBatch> batch = BW_TRY(consumer.Next());
    BW_CHECK(batch && batch->slices().front().bytes.size() == kSliceBytes);
  }
  return clock.Now() - began;
}

Result<std::vector<RawRange>> RangesOf(Stream& stream) {
  std::vector<RawRange> ranges;
  BW_TRY(ForEachObject(stream.env().store, stream.log().keys().DataPrefix(),
                       [&](const ListedObject& object) -> Result<void> {
                         ranges.push_back({.key = "bench/" + object.key, .offset = 0, .size_bytes = kSliceBytes});
                         return {};
                       }));
  return ranges;
}

Result<void> AddReads(Bench& bench, const Settings& settings, Report& report) {
  Announce("reads of 8 MiB");
  const uint64_t steps = std::max<uint64_t>(settings.data_bytes / kSliceBytes, 8);
  Stream stream = BW_TRY(Stream::Create(bench.env(), "read"));
  const SamplePayload payload(bench.random, {.grid = {.dp = 1, .cp = 1}, .slice_bytes = kSliceBytes});
  {
    Producer producer = BW_TRY(stream.OpenProducer("writer"));
    BW_TRY(PublishSteps(producer, payload, steps));
  }
  const std::vector<RawRange> ranges = BW_TRY(RangesOf(stream));
  BW_CHECK(ranges.size() == steps);
  const Ratios ratios = BW_TRY(Measure(
      bench, settings, steps * kSliceBytes,
      [&](size_t in_flight) { return Consume(stream, bench.clock, in_flight, steps); },
      [&](size_t in_flight) { return bench.raw->Get(bench.clock, ranges, in_flight); }));
  report.push_back({.key = "read_ratio_vs_raw",
                    .value = Median(ratios.speed),
                    .target = AtLeast(0.9),
                    .meaning = "bytes/s of a consumer over those of plain GETs of the same ranges, best of 1, 4, 16"});
  report.push_back({.key = "read_mib_per_s", .value = Median(ratios.bytes_per_s), .target = {}, .meaning = "read"});
  report.push_back({.key = "raw_read_mib_per_s",
                    .value = Median(ratios.raw_bytes_per_s),
                    .target = {},
                    .meaning = fmt::format("of the plain GETs; {} rounds", ratios.speed.size())});
  report.push_back({.key = "cpu_ratio_vs_raw",
                    .value = Median(ratios.cpu),
                    .target = AtMost(1.3),
                    .meaning = "processor time of the same over that of the plain GETs"});

  Announce("requests and memory");
  MeteredStore metered(*bench.store, "/data/");
  Stream counted = BW_TRY(Stream::Open({metered, bench.clock, bench.random, bench.threads}, "read"));
  const CloudReads before = bench.store->reads();
  uint64_t passes = 0;
  for (uint64_t bytes = 0; bytes < kPassedRounds * settings.data_bytes; bytes += steps * kSliceBytes, ++passes) {
    BW_TRY(Consume(counted, bench.clock, 4, steps));
  }
  const CloudReads after = bench.store->reads();
  report.push_back({.key = "gets_per_step",
                    .value = static_cast<double>(metered.usage().range_gets) / static_cast<double>(passes * steps),
                    .target = Exactly(1),
                    .meaning = "payload GETs of a rank a step, hedges apart"});
  report.push_back(
      {.key = "hedge_share",
       .value = static_cast<double>(after.hedged - before.hedged) / static_cast<double>(after.ranges - before.ranges),
       .target = AtMost(0.05),
       .meaning = "of these, asked for twice"});
  return {};
}

// Each batch is 64 MiB: eight slices.
Result<void> AddIngest(Bench& bench, const Settings& settings, Report& report) {
  Announce("publish and commit of 64 MiB");
  const uint64_t batches = std::max<uint64_t>(settings.data_bytes / kBatchBytes, 2);
  const SamplePayload payload(bench.random, {.grid = {.dp = 8, .cp = 1}, .slice_bytes = kSliceBytes});
  MeteredStore metered(*bench.store, "/manifest/");
  const Env env{metered, bench.clock, bench.random, bench.threads};
  uint64_t runs = 0;
  uint64_t commits = 0;
  const auto publish = [&](size_t in_flight) -> Result<Duration> {
    Stream stream = BW_TRY(Stream::Create(env, fmt::format("ingest-{}", runs++)));
    Producer producer = BW_TRY(stream.OpenProducer("writer", {.upload_threads = static_cast<uint32_t>(in_flight)}));
    const TimePoint began = env.clock.Now();
    BW_TRY(PublishSteps(producer, payload, batches));
    const Duration took = env.clock.Now() - began;
    commits += 1 + producer.stats().commits;
    producer.Close();
    BW_TRY(ForEachObject(env.store, stream.log().keys().DataPrefix(),
                         [&](const ListedObject& object) { return bench.store->Delete({&object.key, 1}); }));
    return took;
  };
  const auto put = [&](size_t in_flight) -> Result<Duration> {
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < batches; ++i) keys.push_back(fmt::format("bench/plain/{}-{}", runs, i));
    ++runs;
    ByteView bytes = payload.SliceAt({});
    bytes = {bytes.data(), kBatchBytes};  // The slices lie behind each other.
    const Duration took = BW_TRY(bench.raw->Put(env.clock, keys, bytes, in_flight));
    for (std::string& key : keys) key.erase(0, std::string("bench/").size());
    BW_TRY(bench.store->Delete(keys));
    return took;
  };
  const Ratios ratios = BW_TRY(Measure(bench, settings, batches * kBatchBytes, publish, put));
  report.push_back({.key = "ingest_ratio_vs_raw",
                    .value = Median(ratios.speed),
                    .target = AtLeast(0.85),
                    .meaning = "bytes/s of publish and commit over those of plain PUTs of the same, best of 1, 4, 16"});
  report.push_back(
      {.key = "ingest_mib_per_s", .value = Median(ratios.bytes_per_s), .target = {}, .meaning = "written"});
  report.push_back({.key = "raw_ingest_mib_per_s",
                    .value = Median(ratios.raw_bytes_per_s),
                    .target = {},
                    .meaning = fmt::format("of the plain PUTs; {} rounds", ratios.speed.size())});
  report.push_back({.key = "manifest_puts_per_commit",
                    .value = static_cast<double>(metered.usage().creates) / static_cast<double>(commits),
                    .target = Exactly(1),
                    .meaning = "PUTs of manifests over versions committed"});
  return {};
}

}  // namespace

Result<Report> RunCloud(const Settings& settings) {
  const std::unique_ptr<Bench> bench = BW_TRY(Start());
  Report report;
  BW_TRY(AddReads(*bench, settings, report));
  report.push_back({.key = "rss_mib",
                    .value = PeakMebibytes(),
                    // 16 in flight of twice as many steps, the buffers of as many plain GETs, and the payload to write.
                    .target = AtMost(768),
                    .meaning = fmt::format("the most that the process held, with {} MiB passed through it",
                                           kPassedRounds * settings.data_bytes >> 20)});
  BW_TRY(AddIngest(*bench, settings, report));
  return report;
}

}  // namespace batchweave::bench
