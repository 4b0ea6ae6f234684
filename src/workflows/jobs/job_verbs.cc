#include <initializer_list>

#include "workflows/jobs.h"

namespace aaco::workflows {
namespace {

// What `run` takes; `side` 'a' and 'b' for the sides of `ab`.
std::vector<JobOption> run_options(char side) {
  using enum JobValue;
  const bool sided = side != 0;
  std::vector<JobOption> options = {
      {sided ? (side == 'a' ? "a_model" : "b_model") : "model", "Model: a name of configs/models.yaml", "--model", name,
       side != 'b'},
      {sided ? (side == 'a' ? "a_backend" : "b_backend") : "backend", "Backend of configs/backends.yaml", "--backend"},
      {sided ? (side == 'a' ? "a_batch" : "b_batch") : "batch", "Batch size", "--batch", whole, false, false, 1, 1'000'000},
      {sided ? (side == 'a' ? "a_threads" : "b_threads") : "threads", "Intra-op threads", "--threads", whole, false, false, 1,
       4096},
      {sided ? (side == 'a' ? "a_graph_level" : "b_graph_level") : "graph_level", "Graph optimisation level", "--graph-level"},
      {sided ? (side == 'a' ? "a_dim" : "b_dim") : "dim", "Size of a symbolic dimension, NAME=SIZE", "--dim", name, false, true}};
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
  const JobOption tag{"tag", "Tag for the session", "--tag"};
  const JobOption duration{"duration", "Measure for this long, e.g. 10s", "--duration", time};
  const JobOption iterations{"iterations", "Measured iterations", "--iterations", whole, false, false, 1, 100'000};
  const JobOption threshold{"threshold", "Treat smaller changes as equivalent", "--threshold", ratio};
  const JobOption hardware{"hardware", "Device: id or alias", "--hardware"};
  const JobOption dtype{"dtype", "Data type for floating-point operations", "--dtype"};
  return {{"run",
           "Measure a model, as 'aaco run'",
           true,
           false,
           {"--no-report"},
           joined({run_options(0),
                   {iterations,
                    duration,
                    {"warmup", "Warm-up iterations", "--warmup", whole, false, false, 0, 100'000},
                    {"precision", "Measure until the 95 % CI of the median is at most this wide", "--precision", ratio},
                    {"telemetry", "Sample system telemetry", "--telemetry", flag},
                    {"profile", "Profile nodes and kernels in separate passes", "--profile", flag},
                    {"isolate", "Isolation level: light, standard or strict", "--isolate"},
                    tag}})},
          {"record",
           "Observe a program of the policy's list, as 'aaco record'",
           true,
           true,
           {"--no-report"},
           {{"duration", "Stop after this time", "--duration", time},
            {"profile", "Run the program a second time under the GPU profiler", "--profile", flag},
            tag,
            {"program", "Program, one of record_programs of the policy", "", program, true, false, 0, 0, 'c'},
            {"argument", "Argument of the program", "", text, false, true, 0, 0, 'c'}}},
          {"import",
           "Create a session from a profiler's files, as 'aaco import'",
           false,
           false,
           {"--no-report"},
           {{"path", "File or folder below import_folders of the policy", "", file, false, true},
            {"upload", "Id of a file that was sent to /api/v1/uploads", "", upload, false, true},
            {"graph", "Model that ran: a name of configs/models.yaml", "--graph"},
            {"batch", "With graph: batch size of the run", "--batch", whole, false, false, 1, 1'000'000},
            tag}},
          {"diff",
           "Compare two sides and store the verdict, as 'aaco diff'",
           false,
           false,
           {},
           {{"a", "Side A (baseline): sessions", "", session, true},
            {"b", "Side B (candidate): sessions", "", session, true},
            threshold,
            {"metric", "Metrics to compare; the first one decides the verdict", "--metric"},
            {"force", "Compare even if the sessions are not comparable", "--force", flag}}},
          {"ab",
           "Measure two configurations, interleaved, as 'aaco ab'",
           true,
           false,
           {},
           joined({{duration,
                    threshold,
                    iterations,
                    {"detectable", "Continue until a change of this size would be detectable", "--detectable", ratio},
                    tag},
                   run_options('a'),
                   run_options('b')})},
          {"gate",
           "Check for regressions against a baseline, as 'aaco gate'",
           true,
           false,
           {},
           {{"baseline", "Name of the baseline", "--baseline", name, true},
            {"session", "Sessions to check; without it a new run is measured", "--session", session},
            {"retries", "Measure up to this many more sessions while inconclusive", "--retries", whole, false, false, 0, 20}}},
          {"analyze",
           "Predict a model on a device, as 'aaco analyze'",
           false,
           false,
           {},
           {{"model", "Model: a name of configs/models.yaml or zoo:NAME", "--model", name, true},
            hardware,
            {"batch", "Batch size", "--batch", whole, false, false, 1, 1'000'000},
            dtype,
            {"dim", "Size of a symbolic dimension, NAME=SIZE", "--dim", name, false, true}}},
          {"compare",
           "Predict and rank models on devices, as 'aaco compare'",
           false,
           false,
           {},
           {{"model", "Model: a name of configs/models.yaml or zoo:NAME", "--model", name, true, true},
            {"hardware", "Devices, separated by commas", "--hardware", name, true, true},
            {"batch", "Batch size", "--batch", whole, false, false, 1, 1'000'000},
            dtype,
            {"rank", "Ranking criterion: latency, throughput, energy or memory", "--rank"}}},
          {"optimize",
           "Search for a faster configuration of a model and prove the gain, as 'aaco optimize'",
           true,
           false,
           {},
           joined({run_options(0),
                   {{"budget", "Time for the search and the proof (default: 10m)", "--budget", time},
                    {"for", "What to improve: latency, throughput or energy (default: latency)", "--for"},
                    {"slo", "Keep only configurations with this P99 latency, e.g. p99=20ms", "--slo", text},
                    {"tolerance", "Largest output error relative to the output RMS", "--tolerance", ratio},
                    threshold,
                    {"fix", "Keep an axis at a value, AXIS=VALUE", "--fix", text, false, true},
                    tag}}),
           "--out"},
          {"llm",
           "Measure a language-model server, as 'aaco llm'",
           true,
           false,
           {"--no-report"},
           {{"url", "Base URL of the server, below llm_servers of the policy", "--url", url, true},
            {"model", "The server's name of the model", "--model"},
            {"concurrency", "Open requests at any time; several levels: 1,2,4", "--concurrency"},
            {"rate", "Requests per second", "--rate"},
            {"requests", "Requests per level", "--requests", whole, false, false, 1, 1'000'000},
            {"duration", "Duration of each level", "--duration", time},
            {"prompt_tokens", "Prompt length", "--prompt-tokens"},
            {"output_tokens", "Answer length", "--output-tokens"},
            tag}}};
}

}  // namespace

const std::vector<JobVerb>& job_verbs() {
  static const std::vector<JobVerb> kVerbs = make_job_verbs();
  return kVerbs;
}

}  // namespace aaco::workflows
