// How fast and in how much memory a Kineto trace is imported: a trace made on the fly by repeating a pattern of events with new
// times and ids, so that no file of that size is needed; into nothing (parsing alone), and into Parquet. Then a file of the same
// pattern against Python's json.load of it, in the same run. Usage: import_speed [GIGABYTES [FILE_MEGABYTES]]
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/clock.h"
#include "core/files.h"
#include "core/subprocess.h"
#include "importers/file_source.h"
#include "importers/kineto.h"
#include "tracelake/bundle.h"

namespace {

using namespace aaco;

// One launch of the framework: operator, runtime call, arrow, kernel, arrow. T is a time, I an id: 16 and 10 digits.
constexpr std::string_view kPattern =
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 950, "tid": 950, "ts": TTTTTTTTTTTTTTTT.308, "dur": 22.511, "args": {"External id": IIIIIIIIII, "Record function id": 0, "Concrete Inputs": ["", "", "", "1", "1"], "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"], "Input Strides": [[1], [768, 1], [1, 768], [], []], "Input Dims": [[768], [788, 768], [768, 768], [], []], "Ev Idx": 1381}},
{"ph": "X", "cat": "cuda_runtime", "name": "hipExtModuleLaunchKernel", "pid": 950, "tid": 950, "ts": TTTTTTTTTTTTTTTT.712, "dur": 8.702, "args": {"External id": IIIIIIIIII, "kernel": "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x96x64_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1", "cid": 65, "correlation": IIIIIIIIII, "grid": [10752, 1, 1], "block": [256, 1, 1], "shared memory": 0}},
{"ph": "s", "id": IIIIIIIIII, "pid": 950, "tid": 950, "ts": TTTTTTTTTTTTTTTT.712, "cat": "ac2g", "name": "ac2g"},
{"ph": "X", "cat": "kernel", "name": "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x96x64_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1", "pid": 2, "tid": 0, "ts": TTTTTTTTTTTTTTTT.156, "dur": 14.008, "args": {"External id": IIIIIIIIII, "device": 2, "stream": 0, "correlation": IIIIIIIIII, "kind": "Dispatch Kernel", "grid": [10752, 1, 1], "block": [256, 1, 1]}},
{"ph": "f", "id": IIIIIIIIII, "pid": 2, "tid": 0, "ts": TTTTTTTTTTTTTTTT.156, "cat": "ac2g", "name": "ac2g", "bp": "e"},
)";
constexpr std::int64_t kEventsOfPattern = 5;
constexpr std::string_view kHead =
    R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}], "traceEvents": [
)";
constexpr std::string_view kTail = "{}],\n\"distributedInfo\": {\"rank\": 0}}\n";

class PatternSource final : public trace::ByteSource {
 public:
  explicit PatternSource(std::int64_t bytes) : patterns_(bytes / static_cast<std::int64_t>(kPattern.size())), text_(kPattern) {
    for (std::size_t at = 0; at < kPattern.size(); ++at) {
      if (kPattern.substr(at).starts_with("TTTTTTTTTTTTTTTT"))
        times_.push_back(at), at += 15;
      else if (kPattern.substr(at).starts_with("IIIIIIIIII"))
        ids_.push_back(at), at += 9;
    }
  }
  core::Result<std::size_t> read(std::span<char> into) override {
    std::size_t size = 0;
    while (size < into.size() && !current_.empty()) {
      const std::size_t count = current_.copy(into.data() + size, into.size() - size);
      size += count;
      current_.remove_prefix(count);
      if (current_.empty()) next();
    }
    return size;
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::string path() const override { return {}; }
  [[nodiscard]] std::int64_t events() const { return patterns_ * kEventsOfPattern; }
  [[nodiscard]] std::int64_t patterns() const { return patterns_; }

 private:
  void put(std::size_t at, std::size_t digits, std::int64_t value) {
    for (std::size_t i = digits; i-- > 0; value /= 10) text_[at + i] = static_cast<char>('0' + value % 10);
  }
  void next() {
    if (made_ > patterns_) return;
    if (made_++ == patterns_) {
      current_ = kTail;
      return;
    }
    for (std::size_t at : times_) put(at, 16, 1'751'410'836'000'000 + 30 * made_);
    for (std::size_t at : ids_) put(at, 10, 1'000'000'000 + made_);
    current_ = text_;
  }

  std::string name_ = "a repeated pattern";
  std::int64_t patterns_;
  std::int64_t made_ = 0;
  std::string text_;
  std::vector<std::size_t> times_, ids_;
  std::string_view current_ = kHead;
};

// Takes rows and forgets them.
class Nowhere final : public trace::Sink {
 public:
  void add(const trace::IterationRow&) override { ++rows_; }
  void add(const trace::LoopBlockRow&) override { ++rows_; }
  void add(const trace::NodeExecutionRow&) override { ++rows_; }
  void add(const trace::KernelRow& row) override { ++rows_, kernel_ns_ += row.end_ns - row.start_ns; }
  void add(const trace::ApiCallRow&) override { ++rows_; }
  void add(const trace::CopyRow&) override { ++rows_; }
  void add(const trace::CollectiveRow&) override { ++rows_; }
  void add(const trace::KernelCounterRow&) override { ++rows_; }
  void add(const trace::SystemEventRow&) override { ++rows_; }
  void add(const trace::GpuEventRow&) override { ++rows_; }
  void add(const trace::SchedEventRow&) override { ++rows_; }
  void add(const trace::GraphNodeRow&) override { ++rows_; }
  void add(const trace::GraphEdgeRow&) override { ++rows_; }
  void add(const trace::AttributionRow&) override { ++rows_; }
  void add(const trace::KernelGroupRow&) override { ++rows_; }
  void add(const trace::GapRow&) override { ++rows_; }
  trace::NameId name(std::string_view text) override { return names_.intern(text); }
  [[nodiscard]] core::Status status() const override { return {}; }
  [[nodiscard]] std::int64_t kernel_ns() const { return kernel_ns_; }

 private:
  trace::NameTable names_;
  std::int64_t rows_ = 0;
  std::int64_t kernel_ns_ = 0;
};

double peak_mib(int who) {
  rusage use = {};
  ::getrusage(who, &use);
  return static_cast<double>(use.ru_maxrss) / 1024;
}

void check(bool right, const char* what) {
  if (right) return;
  fmt::print(stderr, "wrong: {}\n", what);
  std::exit(1);
}

double import_seconds(trace::ByteSource& source, trace::Sink& sink, std::int64_t expected_events) {
  const std::int64_t start = core::monotonic_ns();
  const auto result = importers::kineto::make_importer()->import(source, sink);
  const double seconds = static_cast<double>(core::monotonic_ns() - start) * 1e-9;
  check(result.has_value(), "the import");
  check(result->account.read == expected_events + 1, "the number of events");  // the tail holds an empty one
  return seconds;
}

// CPU time of all threads of this process so far, seconds.
double cpu_seconds() {
  rusage use = {};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// `cpu`: CPU seconds it took, which tell the cost where the machine is shared.
void print(const char* what, double bytes, std::int64_t events, double seconds, double cpu) {
  fmt::print("{:<30} {:6.0f} MB/s {:6.0f} MB per CPU second {:9.0f} events/s {:6.1f} s  peak {:4.0f} MiB\n", what,
             bytes / 1e6 / seconds, bytes / 1e6 / cpu, static_cast<double>(events) / seconds, seconds, peak_mib(RUSAGE_SELF));
  std::fflush(stdout);
}

void from_memory(std::int64_t bytes, const std::string& folder) {
  PatternSource making(bytes);
  std::string block(std::size_t{1} << 20, '\0');
  double cpu = cpu_seconds();
  const std::int64_t start = core::monotonic_ns();
  while (making.read(block).value_or(0) > 0) {
  }
  print("making the text alone", static_cast<double>(bytes), making.events(),
        static_cast<double>(core::monotonic_ns() - start) * 1e-9, cpu_seconds() - cpu);

  PatternSource first(bytes);
  Nowhere nowhere;
  cpu = cpu_seconds();
  const double seconds = import_seconds(first, nowhere, first.events());
  print("import, rows to nowhere", static_cast<double>(bytes), first.events(), seconds, cpu_seconds() - cpu);
  check(nowhere.kernel_ns() == first.patterns() * 14'008, "the sum of kernel time");

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
    fmt::print("file of {} MB, round {}: import {:.2f} s, json.load {:.2f} s (peak {:.0f} MiB): {:.1f} times\n",
               bytes / 1'000'000, round + 1, ours, theirs, peak_mib(RUSAGE_CHILDREN), ratios.back());
  }
  std::sort(ratios.begin(), ratios.end());
  fmt::print("import / json.load: median {:.1f} times as fast, {:.1f} to {:.1f}\n", ratios[1], ratios.front(), ratios.back());
}

}  // namespace

int main(int count, char** arguments) {
  const double gigabytes = count > 1 ? std::atof(arguments[1]) : 4;
  const double megabytes = count > 2 ? std::atof(arguments[2]) : 300;
  const auto folder = core::TemporaryDirectory::make("/tmp", "aaco-bench");
  check(folder.has_value(), "a temporary folder");
  from_memory(static_cast<std::int64_t>(gigabytes * 1e9), folder->path());
  against_python(static_cast<std::int64_t>(megabytes * 1e6), folder->path());
  return 0;
}
