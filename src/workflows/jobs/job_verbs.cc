#include <initializer_list>

#include "workflows/jobs.h"

namespace aaco::workflows {
namespace {

constexpr std::string_view kModel = "A name of configs/models.yaml, e.g. resnet50";
constexpr std::string_view kModelOrZoo = "A name of configs/models.yaml, or zoo:NAME";
constexpr std::string_view kSameAsA = "Without it that of A";
constexpr std::string_view kSizes = "NAME=SIZE, e.g. sequence=64";
constexpr std::string_view kDtypes = "Of floating-point operations, e.g. fp16";

// What `run` takes; `side` 'a' and 'b' for the sides of `ab`.
std::vector<JobOption> run_options(char side) {
  using enum JobValue;
  const auto named = [side](std::string_view plain, std::string_view a, std::string_view b) {
    return side == 0 ? plain : side == 'a' ? a : b;
  };
  std::vector<JobOption> options = {
      {named("model", "a_model", "b_model"), named("Model", "A: model", "B: model"), named(kModel, kModel, kSameAsA), "--model",
       name, side != 'b'},
      {named("backend", "a_backend", "b_backend"), named("Backend", "A: backend", "B: backend"),
       "One of configs/backends.yaml, e.g. cpu", "--backend"},
      {named("batch", "a_batch", "b_batch"), named("Batch size", "A: batch size", "B: batch size"), "", "--batch", whole, false,
       false, 1, 1'000'000},
      {named("threads", "a_threads", "b_threads"), named("Threads", "A: threads", "B: threads"), "Within an operator",
       "--threads", whole, false, false, 1, 4096},
      {named("graph_level", "a_graph_level", "b_graph_level"),
       named("Graph optimisation", "A: graph optimisation", "B: graph optimisation"), "disabled, basic, extended or all",
       "--graph-level"},
      {named("dim", "a_dim", "b_dim"), named("Symbolic dimensions", "A: symbolic dimensions", "B: symbolic dimensions"), kSizes,
       "--dim", name, false, true}};
  for (JobOption& option : options) option.side = side;
  return options;
}

std::vector<JobOption> joined(std::initializer_list<std::vector<JobOption>> parts) {
  std::vector<JobOption> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<JobVerb> make_job_verbs() {
  using enum JobValue;
  const JobOption tag{"tag", "Tag", "To find the session by", "--tag"};
  const JobOption duration{"duration", "Duration", "Measure for this long, e.g. 10s", "--duration", time};
  const JobOption iterations{"iterations", "Iterations", "Measured; warm-up not included", "--iterations", whole, false, false, 1,
                             100'000};
  const JobOption threshold{"threshold", "Threshold", "Treat smaller changes as equivalent, e.g. 5%", "--threshold", ratio};
  const JobOption hardware{"hardware", "Device", "Id or alias, e.g. mi300x; without it this machine", "--hardware"};
  const JobOption dtype{"dtype", "Data type", kDtypes, "--dtype"};
  return {{"run",
           "Measure a model",
           true,
           false,
           {"--no-report"},
           joined({run_options(0),
                   {iterations,
                    duration,
                    {"warmup", "Warm-up iterations", "", "--warmup", whole, false, false, 0, 100'000},
                    {"precision", "Precision", "Measure until the 95 % CI of the median is at most this wide, e.g. 1%",
                     "--precision", ratio},
                    {"telemetry", "Telemetry", "Sample clocks, power, memory and load of the machine", "--telemetry", flag},
                    {"profile", "Profile", "Time nodes and kernels in separate passes", "--profile", flag},
                    {"isolate", "Isolation", "light, standard or strict", "--isolate"},
                    tag}})},
          {"record",
           "Observe a program of the policy's list",
           true,
           true,
           {"--no-report"},
           {{"duration", "Duration", "Stop after this time, e.g. 30s", "--duration", time},
            {"profile", "GPU profile", "Run the program a second time under the GPU profiler", "--profile", flag},
            tag,
            {"program", "Program", "Absolute path, one of record_programs of the policy", "", program, true, false, 0, 0, 'c'},
            {"argument", "Arguments", "Of the program", "", text, false, true, 0, 0, 'c'}}},
          {"import",
           "Create a session from a profiler's files",
           false,
           false,
           {"--no-report"},
           {{"path", "Path on the server", "File or folder below import_folders of the policy", "", file, false, true},
            {"upload", "Files", "Ids of files that were sent to /api/v1/uploads", "", upload, false, true},
            {"graph", "Model that ran", kModel, "--graph"},
            {"batch", "Batch size of the run", "With the model that ran", "--batch", whole, false, false, 1, 1'000'000},
            tag}},
          {"diff",
           "Compare two sides and store the verdict",
           false,
           false,
           {},
           {{"a", "Side A (baseline)", "Sessions: an id, several as ID,ID, latest or tag:NAME", "", session, true},
            {"b", "Side B (candidate)", "In the same form", "", session, true},
            threshold,
            {"metric", "Metrics", "Separated by commas; the first one decides the verdict", "--metric"},
            {"force", "Compare anyway", "Even if the sessions are not comparable", "--force", flag}}},
          {"ab",
           "Measure two configurations, interleaved",
           true,
           false,
           {},
           joined({{duration,
                    threshold,
                    iterations,
                    {"detectable", "Detectable change", "Continue until a change of this size would be detectable, e.g. 2%",
                     "--detectable", ratio},
                    tag},
                   run_options('a'),
                   run_options('b')})},
          {"gate",
           "Check for regressions against a baseline",
           true,
           false,
           {},
           {{"baseline", "Baseline", "Its name", "--baseline", name, true},
            {"session", "Sessions to check", "Without them a new run is measured", "--session", session},
            {"retries", "Retries", "Measure up to this many more sessions while inconclusive", "--retries", whole, false, false,
             0, 20}}},
          {"analyze",
           "Predict a model on a device",
           false,
           false,
           {},
           {{"model", "Model", kModelOrZoo, "--model", name, true},
            hardware,
            {"batch", "Batch size", "", "--batch", whole, false, false, 1, 1'000'000},
            dtype,
            {"dim", "Symbolic dimensions", kSizes, "--dim", name, false, true}}},
          {"compare",
           "Predict and rank models on devices",
           false,
           false,
           {},
           {{"model", "Models", kModelOrZoo, "--model", name, true, true},
            {"hardware", "Devices", "Ids or aliases, e.g. mi300x,h100", "--hardware", name, true, true},
            {"batch", "Batch size", "", "--batch", whole, false, false, 1, 1'000'000},
            dtype,
            {"rank", "Rank by", "latency, throughput, energy or memory", "--rank"}}},
          {"optimize",
           "Search for a faster configuration of a model and prove the gain",
           true,
           false,
           {},
           joined({run_options(0),
                   {{"budget", "Time budget", "For the search and the proof (default: 10m)", "--budget", time},
                    {"for", "What to improve", "latency, throughput or energy (default: latency)", "--for"},
                    {"slo", "Latency limit", "Keep only configurations within it, e.g. p99=20ms", "--slo", text},
                    {"tolerance", "Output tolerance", "Largest error relative to the RMS of the outputs, e.g. 1%", "--tolerance",
                     ratio},
                    threshold,
                    {"fix", "Fixed axes", "Keep an axis of the search at a value, AXIS=VALUE", "--fix", text, false, true},
                    tag}}),
           "--out"},
          {"llm",
           "Measure a language-model server",
           true,
           false,
           {"--no-report"},
           {{"url", "Server URL", "Base URL, below llm_servers of the policy", "--url", url, true},
            {"model", "Model", "By the server's name for it", "--model"},
            {"concurrency", "Concurrency", "Open requests at any time; several levels: 1,2,4", "--concurrency"},
            {"rate", "Request rate", "Requests per second", "--rate"},
            {"requests", "Requests per level", "", "--requests", whole, false, false, 1, 1'000'000},
            {"duration", "Duration of each level", "e.g. 30s", "--duration", time},
            {"prompt_tokens", "Prompt length", "In tokens", "--prompt-tokens"},
            {"output_tokens", "Answer length", "In tokens", "--output-tokens"},
            tag}}};
}

}  // namespace

const std::vector<JobVerb>& job_verbs() {
  static const std::vector<JobVerb> kVerbs = make_job_verbs();
  return kVerbs;
}

}  // namespace aaco::workflows
