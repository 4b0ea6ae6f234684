#include "cli/options/serve_options.h"

#include <CLI/CLI.hpp>
#include <array>

#include "cli/options/predict_options.h"
#include "cli/options/time_with_unit.h"
#include "cli/options/whole_number.h"
#include "core/strings.h"

namespace aaco::cli {

struct ServeOptions::Texts {
  bool serve = false, disaggregated = false;
  std::optional<std::int64_t> gpus, tensor, pipeline, expert, replicas, concurrency;
  std::int64_t input = 2048, output = 256;
  std::optional<double> rate;
  std::vector<std::string> slo;
  std::string stack, cache, expert_load = "uniform";
};

namespace {

using core::ErrorCode;

constexpr std::array kDependent{"--gpus", "--tp",  "--pp",    "--ep",       "--replicas",    "--isl",           "--osl",
                                "--rate", "--slo", "--stack", "--kv-dtype", "--concurrency", "--disaggregated", "--expert-load"};

core::Result<estimation::ServingLimits> parse_limits(const std::vector<std::string>& texts) {
  estimation::ServingLimits limits;
  AACO_ASSIGN(const auto parts, split_list(texts, "--slo"));
  for (const std::string& part : parts) {
    const auto equal = part.find('=');
    const std::string name = core::to_lower(core::trim(part.substr(0, equal)));
    if (equal == std::string::npos || (name != "ttft" && name != "tpot"))
      return core::fail(ErrorCode::invalid_argument, "invalid value '" + part + "' for '--slo': expected ttft=TIME,tpot=TIME",
                        "for example --slo ttft=500ms,tpot=30ms");
    AACO_ASSIGN(const std::int64_t ns, time_with_unit(part.substr(equal + 1), "--slo", "30ms"));
    if (ns == 0) return core::fail(ErrorCode::invalid_argument, "invalid value '" + part + "' for '--slo': the limit is 0");
    (name == "ttft" ? limits.first_token_ns : limits.output_token_ns) = static_cast<double>(ns);
  }
  return limits;
}

}  // namespace

ServeOptions::ServeOptions(CLI::App& app) : texts_(std::make_unique<Texts>()), app_(&app) {
  Texts& t = *texts_;
  const auto count = positive_count();
  app.add_flag("--serve", t.serve, "Estimate a language model as a serving stack runs it: TTFT, TPOT, tokens/s, KV cache");
  app.add_option("--gpus", t.gpus, "With --serve: number of GPUs; without --tp and --pp all plans on them are searched")
      ->check(count);
  app.add_option("--tp", t.tensor, "With --serve: tensor parallelism")->check(count);
  app.add_option("--pp", t.pipeline, "With --serve: pipeline parallelism")->check(count);
  app.add_option("--ep", t.expert, "With --serve: expert parallelism")->check(count);
  app.add_option("--replicas", t.replicas, "With --serve: independent copies of the model")->check(count);
  app.add_option("--isl", t.input, "With --serve: input tokens per request")->check(count)->capture_default_str();
  app.add_option("--osl", t.output, "With --serve: output tokens per request")->check(count)->capture_default_str();
  app.add_option("--concurrency", t.concurrency, "With --serve: requests in flight on all GPUs (--batch: per replica)")
      ->check(count);
  app.add_option("--rate", t.rate, "With --serve: requests per second; TTFT then includes the queue")->check(positive_number());
  app.add_option("--slo", t.slo, "With --serve: limits on TTFT and TPOT, e.g. ttft=500ms,tpot=30ms")->type_name("LIST");
  app.add_option("--stack", t.stack, "With --serve: serving stack, NAME[@VERSION] (vllm, sglang, trtllm)")->type_name("NAME");
  app.add_option(
         "--expert-load", t.expert_load,
         "With --serve: how tokens load the GPUs that share experts (--ep): uniform (random choice), even, power_law_X, or "
         "the busiest GPU's load over the mean, e.g. 1.3")
      ->type_name("TEXT")
      ->capture_default_str();
  app.add_option("--kv-dtype", t.cache,
                 "With --serve: data type of the KV cache: bf16, fp16, fp32, fp8, int8, int4, mxfp4, nvfp4")
      ->type_name("TYPE");
  app.add_flag("--disaggregated", t.disaggregated, "With --serve: prompts run on separate GPUs");
}

ServeOptions::~ServeOptions() = default;

bool ServeOptions::asked() const { return texts_->serve; }

core::Status ServeOptions::refuse_without_serve() const {
  for (const char* name : kDependent)
    if (app_->get_option(name)->count() > 0)
      return core::fail(ErrorCode::invalid_argument, std::string(name) + " requires --serve");
  return {};
}

core::Result<workflows::ServeRequest> ServeOptions::resolve(std::vector<std::string> models, std::vector<std::string> hardware,
                                                            std::optional<std::int64_t> batch, const std::string& weights) const {
  const Texts& t = *texts_;
  const auto both = [](bool a, bool b, const std::string& what) -> core::Status {
    if (a && b) return core::fail(ErrorCode::invalid_argument, what + " cannot be used together");
    return {};
  };
  AACO_TRY(both(batch.has_value(), t.concurrency.has_value(), "--batch and --concurrency"));
  AACO_TRY(both(t.rate.has_value(), t.concurrency || batch, "--rate and --batch or --concurrency"));
  workflows::ServeRequest request;
  request.models = std::move(models);
  request.hardware = std::move(hardware);
  AACO_ASSIGN(request.limits, parse_limits(t.slo));
  estimation::ServingRequest& serving = request.serving;
  estimation::ParallelPlan& plan = serving.plan;
  plan.tensor = t.tensor.value_or(1);
  plan.pipeline = t.pipeline.value_or(1);
  plan.replicas = t.replicas.value_or(1);
  plan.expert = t.expert.value_or(1);
  const std::int64_t asked = t.gpus.value_or(plan.gpus());
  request.gpus = asked;
  request.search = !t.tensor && !t.pipeline && !t.replicas && !t.expert && !t.rate && (asked > 1 || !t.slo.empty());
  if (!request.search && t.gpus) {
    if (!t.replicas && asked % plan.ranks() == 0) plan.replicas = asked / plan.ranks();
    if (plan.gpus() != asked)
      return core::fail(
          ErrorCode::invalid_argument,
          "--gpus " + std::to_string(asked) + " does not match " + to_string(plan) + " (" + std::to_string(plan.gpus()) + ")",
          "--gpus is --tp times --pp times --replicas");
  }
  request.concurrency_given = batch || t.concurrency;
  estimation::ServingLoad& load = serving.load;
  load.input_tokens = t.input;
  load.output_tokens = t.output;
  load.rate = t.rate;
  load.disaggregated = t.disaggregated;
  load.concurrency = static_cast<double>(t.concurrency.value_or(batch.value_or(1) * plan.replicas));
  serving.weight_type = weights;
  serving.cache_type = t.cache;
  serving.stack = t.stack;
  AACO_ASSIGN(serving.routing, estimation::parse_routing(t.expert_load));
  return request;
}

std::string serving_text(const std::vector<workflows::ServedPoint>& points, const workflows::ServeRequest& request,
                         const std::string& format, int width) {
  if (format == "json") return workflows::serving_json(points, request).dump() + "\n";
  if (format == "csv") return report::table_csv(workflows::serving_table(points));
  const report::Paper paper = workflows::serving_paper(points, request);
  if (format == "md") return report::paper_markdown(paper);
  return format == "html" ? report::paper_html(paper) : report::paper_text(paper, width);
}

}  // namespace aaco::cli
