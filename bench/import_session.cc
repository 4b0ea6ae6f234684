// What `aaco import` of a large PyTorch trace takes as a whole: reading, storing, the analysis of GPU time, hashing. The trace is
// written to a file first (of a repeated pattern, bench/pattern_trace.h), plain or through gzip; beside a gzip file stands what
// decompressing it alone takes. Usage: import_session [GIGABYTES] [gz] [FOLDER]
#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure.h"
#include "bench/pattern_trace.h"
#include "core/clock.h"
#include "core/files.h"
#include "importers/file_source.h"
#include "workflows/import.h"

namespace {

using namespace aaco;
using namespace aaco::bench;

// Writes the whole trace; answers its events. gzFile writes plainly too.
std::int64_t write_trace(const std::string& path, std::int64_t bytes, bool packed) {
  PatternSource source(bytes);
  const gzFile file = gzopen(path.c_str(), packed ? "wb6" : "wbT");
  check(file != nullptr, "generating the file");
  std::string block(std::size_t{1} << 20, '\0');
  for (std::size_t count = 0; (count = source.read(block).value_or(0)) > 0;)
    check(gzwrite(file, block.data(), static_cast<unsigned>(count)) == static_cast<int>(count), "writing the file");
  check(gzclose(file) == Z_OK, "closing the file");
  return source.events();
}

double seconds_to_expand(const std::string& path) {
  const std::int64_t start = core::monotonic_ns();
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string block(std::size_t{1} << 20, '\0');
  while (gzread(file, block.data(), static_cast<unsigned>(block.size())) > 0) {
  }
  gzclose(file);
  return static_cast<double>(core::monotonic_ns() - start) * 1e-9;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  const bool packed = std::erase(words, "gz") > 0;
  const double gigabytes = words.empty() ? 4 : std::atof(words[0].c_str());
  const auto folder = core::TemporaryDirectory::make(words.size() > 1 ? words[1] : "/tmp", "aaco-bench");
  check(folder.has_value(), "creating a temporary folder");
  const std::string path = core::join_path(folder->path(), packed ? "trace.json.gz" : "trace.json");
  const auto bytes = static_cast<std::int64_t>(gigabytes * 1e9);
  const std::int64_t events = write_trace(path, bytes, packed);
  if (packed) {
    const double seconds = seconds_to_expand(path);
    fmt::print("decompression only: {:.0f} MB/s of text\n", static_cast<double>(bytes) / 1e6 / seconds);
  }

  workflows::Services services;
  services.paths.share = AACO_SOURCE_DIR;
  services.paths.sessions = core::join_path(folder->path(), "sessions");
  services.tool_version = "bench";
  std::int64_t last = core::monotonic_ns();
  std::string stage = "opening";
  services.progress = [&](std::string_view text) {
    const std::int64_t now = core::monotonic_ns();
    fmt::print("  {:<40} {:6.2f} s  peak {:4.0f} MiB\n", stage, static_cast<double>(now - last) * 1e-9, peak_mib(RUSAGE_SELF));
    stage = text;
    last = now;
  };
  workflows::ImportRequest request;
  request.paths = {path};
  const double cpu = cpu_seconds();
  const std::int64_t start = core::monotonic_ns();
  const auto outcome = workflows::import(request, services);
  const double seconds = static_cast<double>(core::monotonic_ns() - start) * 1e-9;
  check(outcome.has_value(), "the import");
  services.progress("");
  const auto* kernels = trace::find_metric(outcome->metrics, "gpu.kernel_count");
  check(kernels != nullptr && kernels->value * kEventsOfPattern == static_cast<double>(events), "the number of kernels");
  const auto* linked = trace::find_metric(outcome->metrics, "gpu.orphan_kernel_count");
  check(linked != nullptr && linked->value == 0, "the launch of every kernel");
  print("aaco import, total", static_cast<double>(bytes), events, seconds, cpu_seconds() - cpu);
  return 0;
}
