// How fast and in how much memory a Kineto trace is imported: a trace made on the fly by repeating a pattern of events with new
// times and ids, so that no file of that size is needed; into nothing (parsing alone), and into Parquet. Then a file of the same
// pattern against Python's json.load of it, in the same run. Usage: import_speed [GIGABYTES [FILE_MEGABYTES]]
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/measure.h"
#include "bench/pattern_trace.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/subprocess.h"
#include "importers/file_source.h"
#include "importers/kineto.h"
#include "tracelake/bundle.h"

namespace {

using namespace aaco;
using namespace aaco::bench;

// Takes rows and forgets them.
class Nowhere final : public trace::EveryRowTo<Nowhere> {
 public:
  using EveryRowTo::add;
  template <class Row>
  void take(const Row&) {
    ++rows_;
  }
  void add(const trace::KernelRow& row) override { ++rows_, kernel_ns_ += row.end_ns - row.start_ns; }
  trace::NameId name(std::string_view text) override { return names_.intern(text); }
  [[nodiscard]] core::Status status() const override { return {}; }
  [[nodiscard]] std::int64_t kernel_ns() const { return kernel_ns_; }

 private:
  trace::NameTable names_;
  std::int64_t rows_ = 0;
  std::int64_t kernel_ns_ = 0;
};

double import_seconds(trace::ByteSource& source, trace::Sink& sink, std::int64_t expected_events) {
  const std::int64_t start = core::monotonic_ns();
  const auto result = importers::kineto::make_importer()->import(source, sink);
  const double seconds = static_cast<double>(core::monotonic_ns() - start) * 1e-9;
  check(result.has_value(), "the import");
  check(result->account.read == expected_events + 1, "the number of events");  // the tail holds an empty one
  return seconds;
}

void from_memory(std::int64_t bytes, const std::string& folder) {
  PatternSource making(bytes);
  std::string block(std::size_t{1} << 20, '\0');
  double cpu = cpu_seconds();
  const std::int64_t start = core::monotonic_ns();
  while (making.read(block).value_or(0) > 0) {
  }
  print("generating the text only", static_cast<double>(bytes), making.events(),
        static_cast<double>(core::monotonic_ns() - start) * 1e-9, cpu_seconds() - cpu);

  PatternSource first(bytes);
  Nowhere nowhere;
  cpu = cpu_seconds();
  const double seconds = import_seconds(first, nowhere, first.events());
  print("import, rows discarded", static_cast<double>(bytes), first.events(), seconds, cpu_seconds() - cpu);
  check(nowhere.kernel_ns() == first.patterns() * 14'008, "the total kernel time");

  PatternSource second(bytes);
  trace::SessionManifest manifest;
  manifest.id = core::make_session_id(core::SystemClock().now_ns(core::ClockId::realtime), 1);
  manifest.kind = "import";
  auto bundle = tracelake::BundleWriter::create(folder, manifest);
  check(bundle.has_value(), "the bundle");
  cpu = cpu_seconds();
  const std::int64_t begin = core::monotonic_ns();
  import_seconds(second, (*bundle)->sink(), second.events());
  const auto path = (*bundle)->close(manifest);
  check(path.has_value(), "closing the bundle");
  print("import into Parquet, hashed", static_cast<double>(bytes), second.events(),
        static_cast<double>(core::monotonic_ns() - begin) * 1e-9, cpu_seconds() - cpu);
}

void against_python(std::int64_t bytes, const std::string& folder) {
  PatternSource source(bytes);
  const std::string path = core::join_path(folder, "trace.json");
  std::FILE* file = std::fopen(path.c_str(), "wb");
  check(file != nullptr, "writing a file");
  std::string block(std::size_t{1} << 20, '\0');
  for (std::size_t count = 0; (count = source.read(block).value_or(0)) > 0;)
    check(std::fwrite(block.data(), 1, count, file) == count, "writing");
  std::fclose(file);
  std::vector<double> ratios;
  for (int round = 0; round < 3; ++round) {
    auto plain = importers::open_file_source(path);
    check(plain.has_value(), "opening the file");
    Nowhere nowhere;
    const double ours = import_seconds(**plain, nowhere, source.events());
    const std::int64_t start = core::monotonic_ns();
    const auto python =
        core::run_command({.arguments = {"python3", "-c", "import json,sys; json.load(open(sys.argv[1]))", path}});
    const double theirs = static_cast<double>(core::monotonic_ns() - start) * 1e-9;
    check(python.has_value() && python->exit_code == 0, "python3");
    ratios.push_back(theirs / ours);
    fmt::print("file of {} MB, round {}: import {:.2f} s, json.load {:.2f} s (peak {:.0f} MiB): {:.1f}x\n", bytes / 1'000'000,
               round + 1, ours, theirs, peak_mib(RUSAGE_CHILDREN), ratios.back());
  }
  std::sort(ratios.begin(), ratios.end());
  fmt::print("import / json.load: median {:.1f}x faster, {:.1f}x to {:.1f}x\n", ratios[1], ratios.front(), ratios.back());
}

}  // namespace

int main(int count, char** arguments) {
  const double gigabytes = count > 1 ? std::atof(arguments[1]) : 4;
  const double megabytes = count > 2 ? std::atof(arguments[2]) : 300;
  const auto folder = core::TemporaryDirectory::make("/tmp", "aaco-bench");
  check(folder.has_value(), "creating a temporary folder");
  from_memory(static_cast<std::int64_t>(gigabytes * 1e9), folder->path());
  against_python(static_cast<std::int64_t>(megabytes * 1e6), folder->path());
  return 0;
}
