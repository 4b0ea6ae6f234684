#include "cli/options/llm_model_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "cli/options/isolation_options.h"
#include "cli/options/whole_number.h"
#include "core/numbers.h"

namespace aaco::cli {
namespace {

using core::ErrorCode;

constexpr std::array<std::string_view, 12> kOnlyInProcess = {
    "--batch",   "--context-curve",  "--no-context-curve", "--threads",         "--backend", "--graph-level",
    "--ort-lib", "--allow-fallback", "--drop-disturbed",   "--provider-option", "--isolate", "--profile"};
constexpr std::array<std::string_view, 14> kInBoth = {
    "--help", "--model", "--requests",  "--duration",  "--warmup",       "--seed",          "--tag",
    "--out",  "--json",  "--no-report", "--no-chunks", "--no-telemetry", "--prompt-tokens", "--output-tokens"};

bool is_in(const auto& names, const CLI::Option& option) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return option.check_name(std::string(name)); });
}

core::Result<std::int64_t> fixed_length(const std::string& text, const char* option) {
  const auto length = core::parse_i64(text);
  if (length && *length > 0 && *length <= kMaxCount) return *length;
  return core::fail(ErrorCode::invalid_argument, "invalid value '" + text + "' for '" + option + "'",
                    "a model in this process takes a fixed length, for example 512; distributions need --url");
}

}  // namespace

void add_llm_model_options(CLI::App& verb, LlmModelOptions& options) {
  auto& request = options.request;
  verb.add_option("--batch", request.batches,
                  "Without --url: sequences generated at once; several for a curve: 1,2,4 (default: 1)")
      ->delimiter(',')
      ->check(positive_count())
      ->type_name("N");
  verb.add_option("--context-curve", request.contexts,
                  "Without --url: more prompt lengths to measure (default: 1/8, 1/4 and 1/2 of --prompt-tokens)")
      ->delimiter(',')
      ->check(positive_count())
      ->type_name("N");
  verb.add_flag("--no-context-curve", options.no_curve, "Without --url: measure --prompt-tokens only");
  verb.add_option("-b,--backend", request.run.backend, "Without --url: backend from configs/backends.yaml (default: cpu)");
  verb.add_option("--provider-option", options.provider_options, "Without --url: execution provider option (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  verb.add_option("--threads", request.run.threads, "Without --url: intra-op threads (default: the runtime's choice)")
      ->check(positive_count());
  verb.add_option("--graph-level", request.run.graph_level, "Without --url: graph optimisation level (default: all)")
      ->check(CLI::IsMember({"disabled", "basic", "extended", "all"}));
  verb.add_option("--ort-lib", request.run.ort_library, "Without --url: ONNX Runtime library to use");
  verb.add_flag("--allow-fallback", request.run.allow_fallback,
                "Without --url: run on another provider, with a warning, if the requested one is not available");
  verb.add_flag("--profile", request.run.profile,
                "Without --url: also profile the nodes of prefill and of decode, in a separate pass after the measurement");
  verb.add_flag("--drop-disturbed", request.run.drop_disturbed, "Without --url: exclude generations affected by external load");
  add_isolation_options(verb, request.run.isolation);
}

core::Result<workflows::LlmModelRequest> resolve_llm_model(const CLI::App& verb, const LlmModelOptions& options,
                                                           const workflows::LlmRequest& shared) {
  for (const CLI::Option* option : verb.get_options())
    if (option->count() > 0 && !is_in(kInBoth, *option) && !is_in(kOnlyInProcess, *option) &&
        !option->check_name("--isolate-set"))
      return core::fail(ErrorCode::invalid_argument, option->get_name() + " requires --url",
                        "without --url the model runs in this process");
  workflows::LlmModelRequest request = options.request;
  request.run.model = shared.model;
  request.run.seed = shared.seed;
  request.run.tag = shared.tag;
  request.run.telemetry = shared.telemetry;
  request.keep_chunks = shared.keep_chunks;
  request.requests = shared.requests;
  request.duration_ns = shared.duration_ns;
  request.warmup = shared.warmup;
  AACO_ASSIGN(request.prompt_tokens, fixed_length(shared.prompt_tokens, "--prompt-tokens"));
  AACO_ASSIGN(request.output_tokens, fixed_length(shared.output_tokens, "--output-tokens"));
  if (options.no_curve) request.contexts.emplace();
  for (const std::string& text : options.provider_options) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return core::fail(ErrorCode::invalid_argument, "invalid value '" + text + "' for '--provider-option': expected KEY=VALUE");
    request.run.provider_options[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return request;
}

core::Status refuse_llm_model_options(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options())
    if (option->count() > 0 && (is_in(kOnlyInProcess, *option) || option->check_name("--isolate-set")))
      return core::fail(ErrorCode::invalid_argument, option->get_name() + " does not apply to a server (--url)",
                        "it is for a model in this process: aaco llm --model MODEL");
  return {};
}

}  // namespace aaco::cli
