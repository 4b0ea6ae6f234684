#include "workflows/import.h"

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/time_with_unit.h"
#include "cli/options/whole_number.h"
#include "cli/output/session_output.h"
#include "core/numbers.h"

namespace aaco::cli {
namespace {

struct ImportOptions {
  workflows::ImportRequest request;
  std::string gap_threshold = "5us";
  std::string orphans = "include", memset = "include";
  bool json = false;
  bool no_report = false;
  std::size_t top = 50;
};

void add_options(CLI::App& verb, ImportOptions& options, Context& context) {
  verb.add_option("paths", options.request.paths, "Profiler output files and folders; together they become one session")
      ->required();
  verb.add_option("--capture", options.request.captures,
                  "Traces recorded during HIP or CUDA graph capture, to attribute replayed kernels to operators");
  verb.add_option("--graph", options.request.graph,
                  "Model that ran (.onnx, .pt2, .tflite, or a name from models.yaml): kernels are matched to its nodes by name, "
                  "size and order");
  verb.add_option("--batch", options.request.batch, "With --graph: batch size of the run")->check(positive_count());
  verb.add_option("--tag", options.request.tag, "Tag for the session, to refer to it as tag:NAME");
  verb.add_flag("--keep-raw", options.request.keep_raw, "Copy the files into the session");
  verb.add_option("--gap-threshold", options.gap_threshold, "Shortest GPU idle gap to explain")->capture_default_str();
  const auto count_choice = [&verb](const char* name, std::string& choice, const char* meaning, const char* flag) {
    verb.add_option(name, choice, meaning)->check(CLI::IsMember({"include", "exclude"}))->capture_default_str();
    verb.add_flag_callback(
        flag, [&choice] { choice = "exclude"; }, std::string("Same as ") + name + " exclude");
  };
  count_choice("--orphans", options.orphans, "Whether to count kernels without a launch in the trace", "--without-orphans");
  count_choice("--memset", options.memset, "Whether to count memsets in busy time and copies", "--without-memset");
  verb.add_option("--top", options.top, "Number of kernels to list with --json")
      ->check(whole_number(0, kMaxCount))
      ->capture_default_str();
  verb.add_option("-o,--out", context.paths.sessions, "Root folder for sessions (same as --sessions)");
  verb.add_flag("--json", options.json, "Print JSON instead of the report");
  verb.add_flag("--no-report", options.no_report, "Do not write the HTML page");
  verb.footer(
      "Formats: PyTorch profiler (Kineto) and Chrome traces; ONNX Runtime profiles; rocprof and rocprofv3 tables, JSON "
      "and\ndatabases; rocprof-compute workloads; rocmProfileData; Nsight Systems exports (nsys export --type sqlite)\nand "
      "reports (nsys stats --format csv --report cuda_gpu_trace,cuda_api_trace,nvtx_pushpop_trace); MIGraphX\nprograms and "
      "reports; JAX and TensorFlow profiles (.xplane.pb, trace.json.gz); Perfetto traces of rocprofv3 (.pftrace);\nlogs of "
      "amd-smi, rocm-smi and nvidia-smi. gzip and zstd files are decompressed. The files of a folder\n"
      "are merged into one session: each kernel once, counters from all passes joined by dispatch, processes as ranks.\n\n"
      "Examples:\n  aaco import trace.json.gz\n  aaco import rank0.json rank1.json --tag tp2\n  aaco import rocprof_out/ "
      "--json\n  aaco import "
      "serve.json.gz --capture capture.json.gz\n  aaco import kernel_trace.csv --graph resnet50.onnx --batch 8");
}

void print_json(Context& context, const workflows::SessionOutcome& outcome, std::size_t top) {
  const auto kernels = workflows::top_kernels(outcome.path, top);
  if (!kernels) return context.fail(kernels.error());
  core::Json document = session_json(outcome);
  core::Json list = core::Json::array();
  for (const auto& kernel : *kernels)
    list.push(core::Json::object({{"name", kernel.name},
                                  {"family", kernel.family},
                                  {"library", kernel.library},
                                  {"count", kernel.count},
                                  {"sum_ns", kernel.sum_ns}}));
  document.set("top_kernels", std::move(list));
  context.print_json(document);
}

// The threads of an import hand rows on to each other. With an arena per thread each keeps what it once held: a sixth more
// memory. Blocks below 4 MiB come from the arena and stay in it: mapped one by one, each would be cleared by the kernel again.
void share_one_arena() {
  constexpr int kMappedFrom = 4 << 20, kKeptAtTheEnd = 64 << 20;
  (void)::mallopt(M_ARENA_MAX, 1);
  (void)::mallopt(M_MMAP_THRESHOLD, kMappedFrom);
  (void)::mallopt(M_TRIM_THRESHOLD, kKeptAtTheEnd);
}
// What the import needed and the report does not.
void return_free_memory() { (void)::malloc_trim(0); }

void run_import(Context& context, ImportOptions& options) {
  const auto threshold = time_with_unit(options.gap_threshold, "--gap-threshold", "5us");
  if (!threshold) return context.fail(threshold.error());
  if (*threshold <= 0)
    return context.fail({core::ErrorCode::invalid_argument,
                         "invalid value '" + options.gap_threshold + "' for '--gap-threshold': expected a positive duration",
                         "for example 5us, 100us or 1ms",
                         {}});
  options.request.gap_threshold_ns = *threshold;
  options.request.count_orphans = options.orphans == "include";
  options.request.count_memset = options.memset == "include";
  share_one_arena();
  const auto outcome = workflows::import(options.request, make_services(context));
  return_free_memory();
  if (!options.json) return finish_session(context, outcome, false, options.no_report);
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  print_json(context, *outcome, options.top);
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("import", "Create a session from another profiler's output");
  auto options = std::make_shared<ImportOptions>();
  add_options(*verb, *options, context);
  verb->callback([&context, options] { run_import(context, *options); });
}

}  // namespace aaco::cli
