// How fast the kernel table is written: rows of a plausible trace made on the fly go through the bundle's sink into Parquet, in
// memory (the writing thread's share is counted too), until the session is closed, hashed and renamed. The rows' sum is read back
// and checked. Usage: store_speed [MILLION_ROWS [ROUNDS]]
#include <fmt/core.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/clock.h"
#include "core/files.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"

namespace {

using namespace aaco;

constexpr int kKernelNames = 400;

void check(bool right, const char* what) {
  if (right) return;
  fmt::print(stderr, "check failed: {}\n", what);
  std::exit(1);
}

trace::KernelRow row_at(std::int64_t i, const std::vector<trace::NameId>& names) {
  trace::KernelRow row;
  row.device = i % 8;
  row.stream = i % 3;
  row.name = names[static_cast<std::size_t>((i * 7919) % kKernelNames)];
  row.start_ns = 1'751'410'836'000'000'000 + i * 4'000 + (i * 31) % 997;
  row.end_ns = row.start_ns + 1'500 + (i * 17) % 9'001;
  row.correlation_id = static_cast<std::uint64_t>(i) + 1;
  row.external_id = static_cast<std::uint64_t>(i) / 3 + 1;
  row.grid_x = 64 + i % 512;
  row.grid_y = row.grid_z = 1;
  row.block_x = 256;
  row.block_y = row.block_z = 1;
  return row;
}

// CPU time of all threads of this process so far, ns: tells the cost where the machine is shared.
std::int64_t cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

struct Speed {
  double rows_per_second = 0;        // first row added to last chunk taken
  double rows_per_second_whole = 0;  // until the session is closed
  double rows_per_cpu_second = 0;    // of all threads, until written
};

Speed write(std::int64_t rows, const std::string& folder) {
  trace::SessionManifest manifest;
  manifest.id = core::make_session_id(core::SystemClock().now_ns(core::ClockId::realtime), static_cast<std::uint64_t>(rows));
  manifest.kind = "import";
  auto bundle = tracelake::BundleWriter::create(folder, manifest);
  check(bundle.has_value(), "the bundle");
  trace::Sink& sink = (*bundle)->sink();
  std::vector<trace::NameId> names;
  for (int i = 0; i < kKernelNames; ++i)
    names.push_back(sink.name(fmt::format("Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x96x{}_MI16x16x1_SN_LDSB0", i)));
  const std::int64_t cpu = cpu_ns();
  const std::int64_t begin = core::monotonic_ns();
  for (std::int64_t i = 0; i < rows; ++i) sink.add(row_at(i, names));
  check((*bundle)->flush().has_value(), "writing");
  const std::int64_t written = core::monotonic_ns();
  const std::int64_t cpu_used = cpu_ns() - cpu;
  const auto path = (*bundle)->close(manifest);
  const std::int64_t closed = core::monotonic_ns();
  check(path.has_value(), "closing");
  std::int64_t sum = 0, expected = 0, count = 0;
  trace::NameTable table;
  check(tracelake::scan_table<trace::KernelRow>(*path, table,
                                                [&](std::span<const trace::KernelRow> batch) {
                                                  for (const auto& row : batch) sum += row.end_ns - row.start_ns;
                                                  count += static_cast<std::int64_t>(batch.size());
                                                  return core::Status();
                                                })
            .has_value(),
        "reading the bundle");
  for (std::int64_t i = 0; i < rows; ++i) expected += 1'500 + (i * 17) % 9'001;
  check(count == rows && sum == expected, "the number of rows read");
  check(core::remove_tree(*path).has_value(), "removing");
  const auto rate = [rows](std::int64_t ns) { return static_cast<double>(rows) / (static_cast<double>(ns) * 1e-9); };
  return {rate(written - begin), rate(closed - begin), rate(cpu_used)};
}

}  // namespace

int main(int count, char** arguments) {
  const auto rows = static_cast<std::int64_t>((count > 1 ? std::atof(arguments[1]) : 10) * 1e6);
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 5;
  const auto folder = core::TemporaryDirectory::make("/tmp", "aaco-bench");
  check(folder.has_value(), "creating a temporary folder");
  std::vector<double> rates, whole;
  for (int round = 0; round < rounds; ++round) {
    const Speed speed = write(rows, folder->path());
    rates.push_back(speed.rows_per_second);
    whole.push_back(speed.rows_per_second_whole);
    fmt::print("round {}: {:.2f} M rows/s into Parquet, {:.2f} M rows/s including close, {:.2f} M rows per CPU second\n",
               round + 1, rates.back() / 1e6, whole.back() / 1e6, speed.rows_per_cpu_second / 1e6);
  }
  std::sort(rates.begin(), rates.end());
  std::sort(whole.begin(), whole.end());
  rusage use = {};
  ::getrusage(RUSAGE_SELF, &use);
  fmt::print("kernel table of {} M rows: median {:.2f} M rows/s [{:.2f}, {:.2f}], {:.2f} including close, peak {} MiB\n",
             static_cast<double>(rows) / 1e6, rates[rates.size() / 2] / 1e6, rates.front() / 1e6, rates.back() / 1e6,
             whole[whole.size() / 2] / 1e6, use.ru_maxrss / 1024);
  return 0;
}
