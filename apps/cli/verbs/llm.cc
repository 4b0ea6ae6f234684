#include "workflows/llm.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/context.h"
#include "cli/options/empty_values.h"
#include "cli/options/llm_model_options.h"
#include "cli/options/llm_side.h"
#include "cli/options/parse_problem.h"
#include "cli/options/run_options.h"
#include "cli/options/time_with_unit.h"
#include "cli/options/whole_number.h"
#include "cli/output/session_output.h"
#include "core/environment.h"
#include "core/numbers.h"
#include "workflows/isolation.h"
#include "workflows/llm_ceiling.h"
#include "workflows/llm_model.h"

namespace aaco::cli {
namespace {

struct LlmOptions {
  workflows::LlmRequest request;
  LlmModelOptions in_process;
  std::string recover, duration, timeout, ramp, cancel_after, server_metrics;
  bool no_chunks = false, stop_at_eos = false, no_telemetry = false, json = false, no_report = false;
  bool self_test = false;
};

core::Status read_time(const std::string& text, const char* option, const char* example, std::optional<std::int64_t>& to) {
  if (text.empty()) return {};
  AACO_ASSIGN(const std::int64_t ns, time_with_unit(text, option, example));
  if (ns <= 0)
    return core::fail(core::ErrorCode::invalid_argument,
                      "invalid value '" + text + "' for '" + option + "': expected a duration such as " + example);
  to = ns;
  return {};
}

core::Status resolve(LlmOptions& options) {
  auto& request = options.request;
  std::optional<std::int64_t> timeout;
  AACO_TRY(read_time(options.duration, "--duration", "60s", request.duration_ns));
  AACO_TRY(read_time(options.ramp, "--ramp", "10s", request.ramp_ns));
  AACO_TRY(read_time(options.cancel_after, "--cancel-after", "2s", request.cancel_after_ns));
  AACO_TRY(read_time(options.timeout, "--timeout", "10m", timeout));
  if (timeout) request.timeout_ns = *timeout;
  request.keep_chunks = !options.no_chunks;
  request.ignore_eos = !options.stop_at_eos;
  request.telemetry = !options.no_telemetry;
  request.read_server_metrics = options.server_metrics != "off";
  if (request.read_server_metrics) request.server_metrics = options.server_metrics;
  return {};
}

void test_client(Context& context, const LlmOptions& options) {
  workflows::LlmSelfTestRequest request;
  request.server = {core::executable_path(), "llm-server"};
  const auto outcome = workflows::llm_self_test(request, make_services(context));
  context.progress("");
  if (!outcome) return context.fail(outcome.error());
  if (options.json) return context.print_json(to_json(*outcome));
  context.print(render(*outcome));
}

void measure_server(Context& context, LlmOptions& options) {
  if (auto status = resolve(options); !status) return context.fail(status.error());
  const auto outcome = workflows::llm(options.request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  finish_session(context, outcome->session, options.json, options.no_report);
  if (!options.json && !context.quiet) context.print(outcome->definitions);
  if (outcome->all_failed) context.fail({core::ErrorCode::io, "no request succeeded: " + outcome->failure, {}, {}});
}

void recover(Context& context, const LlmOptions& options) {
  const auto outcome = workflows::recover_llm(options.recover, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  finish_session(context, outcome->session, options.json, options.no_report);
}

void measure_model(Context& context, const CLI::App& verb, LlmOptions& options) {
  if (options.request.model.empty())
    return context.fail({core::ErrorCode::invalid_argument,
                         "missing --url or --model",
                         "a server: aaco llm --url http://HOST:PORT/v1; a model in this process: aaco llm --model gpt2",
                         {}});
  if (auto status = resolve(options); !status) return context.fail(status.error());
  const auto request = resolve_llm_model(verb, options.in_process, options.request);
  if (!request) return context.fail(request.error());
  workflows::restart_for(request->run.isolation, make_services(context));
  finish_session(context, workflows::llm_model(*request, make_services(context)), options.json, options.no_report);
}

void add_load_options(CLI::App& verb, LlmOptions& options) {
  auto& request = options.request;
  verb.add_option("--concurrency", request.concurrency,
                  "Open requests at any time (closed loop); several levels: 1,2,4,8 (default: 1)")
      ->delimiter(',')
      ->check(positive_count())
      ->type_name("N");
  verb.add_option("--rate", request.rates,
                  "Requests per second, sent on schedule whatever the server does (open loop); several levels: 1,2,4")
      ->delimiter(',')
      ->check(positive_number())
      ->type_name("R");
  verb.add_option("--arrivals", request.arrivals, "With --rate: poisson, constant or gamma:SHAPE")
      ->capture_default_str()
      ->type_name("PROCESS");
  verb.add_option("--ramp", options.ramp, "With --rate: reach the rate linearly within this time")->type_name("TIME");
  verb.add_option("--replay", request.replay, "Replay a trace: Azure LLM, BurstGPT, Mooncake or AACO JSONL")->type_name("FILE");
  verb.add_option("--replay-speed", request.replay_speed, "With --replay: speed factor (default: 1)")
      ->check(positive_number())
      ->type_name("X");
  verb.add_option("--max-open", request.max_open,
                  "With --rate or --replay: cap on open requests; waiting for it counts as latency (default: no cap)")
      ->check(positive_count())
      ->type_name("N");
  verb.add_option("--requests", request.requests, "Requests per level (default: 10 per open request, at least 100)")
      ->check(positive_count())
      ->type_name("N");
  verb.add_option("--duration", options.duration,
                  "Duration of each level instead of a number of requests (default with --rate: 60s)")
      ->type_name("TIME");
  verb.add_option("--warmup", request.warmup,
                  "Requests before the measurement (default: as many as are open at once, at most 16)")
      ->check(whole_number(0, kMaxCount))
      ->type_name("N");
  verb.add_flag("--sweep", request.until_limit,
                "Stop once requests queue, most of them fail, throughput stops growing (by less than 2 %, or in 3 levels by "
                "little) or the SLO "
                "is broken");
}

void add_prompt_options(CLI::App& verb, LlmOptions& options) {
  auto& request = options.request;
  verb.add_option("--prompt-tokens", request.prompt_tokens, "Prompt length: N, uniform:LOW:HIGH or normal:MEAN:DEVIATION")
      ->capture_default_str()
      ->type_name("LENGTH");
  verb.add_option("--output-tokens", request.output_tokens, "Answer length, in the same forms")
      ->capture_default_str()
      ->type_name("LENGTH");
  verb.add_option("--prompts", request.prompts, "Prompts from a file: JSONL with \"prompt\", or ShareGPT JSON")
      ->type_name("FILE");
  verb.add_option("--shared-prefix", request.shared_prefix_tokens,
                  "Tokens at the start of every prompt that are the same, in addition to --prompt-tokens")
      ->check(whole_number(0, kMaxCount))
      ->type_name("N");
  verb.add_option("--turns", request.turns, "Turns of each conversation: a request repeats what was said before (chat API)")
      ->capture_default_str()
      ->check(positive_count())
      ->type_name("N");
  verb.add_option("--tokenizer", request.tokenizer,
                  "tokenizer.json to count tokens with, if the server reports no usage (default: its /tokenize)")
      ->type_name("FILE");
  verb.add_flag("--stop-at-eos", options.stop_at_eos,
                "Let answers end early; by default ignore_eos and min_tokens ask for the whole length");
  verb.add_flag("--continuous-usage", request.continuous_usage, "Ask for token counts in each chunk (vLLM, SGLang)");
}

// What a side of `ab` may say too.
void add_request_options(CLI::App& verb, LlmOptions& options) {
  auto& request = options.request;
  verb.add_option("--url", request.url, "Base URL of an OpenAI-compatible API")->type_name("URL");
  verb.add_option("-m,--model", request.model,
                  "With --url: the server's name of the model (default: the first it lists); without: a decoder to run in this "
                  "process, a name from configs/models.yaml or an .onnx file")
      ->type_name("NAME");
  verb.add_option("--api", request.api, "chat or completions")
      ->capture_default_str()
      ->check(CLI::IsMember({"chat", "completions"}))
      ->type_name("API");
  add_load_options(verb, options);
  add_prompt_options(verb, options);
  verb.add_option("--slo", request.slo, "Limits a good request keeps, for goodput: ttft=200ms,tpot=50ms,itl=100ms,e2el=5s")
      ->type_name("LIMITS");
  verb.add_option("--price", request.price_per_hour, "Price of the server per hour, for the cost per million output tokens")
      ->check(positive_number())
      ->type_name("P");
  verb.add_option("--seed", request.seed, "Seed of arrivals, lengths and prompts")->capture_default_str()->check(seed_number());
  verb.add_option("--timeout", options.timeout, "Limit per request (default: 10m)")->type_name("TIME");
  verb.add_option("--retries", request.retries, "Retries of refused, reset, 429 and 5xx requests; counted")
      ->capture_default_str()
      ->check(whole_number(0, 100))
      ->type_name("N");
  verb.add_option("--cancel-after", options.cancel_after,
                  "Cancel each request this long after it was sent (the report says when it was)")
      ->type_name("TIME");
  verb.add_option("--api-key-file", request.api_key_file, "File with the API key (otherwise AACO_API_KEY); never stored")
      ->type_name("FILE");
  verb.add_option("--header", request.headers, "Additional header 'Name: value'; the value is never stored")->type_name("HEADER");
  verb.add_option("--ca-file", request.ca_file, "Certificate authorities to trust besides the system's (PEM)")->type_name("FILE");
  verb.add_flag("--no-chunks", options.no_chunks, "Do not store a row per chunk");
  verb.add_option("--server-metrics", options.server_metrics,
                  "URL of the server's Prometheus metrics, or 'off' (default: /metrics of the server, if it has them)")
      ->type_name("URL");
  verb.add_flag("--no-telemetry", options.no_telemetry, "Do not sample the machine beside the load");
  verb.add_flag(
      "--ebpf", request.ebpf,
      "Record what the operating system does to the server's processes, if they run on this machine (eBPF, needs root): "
      "causes of single slow tokens");
  verb.add_option("--observe", request.observe,
                  "Recording of the server's machine made at the same time (aaco record --pid), to join with the requests; "
                  "waits for it to end")
      ->type_name("SESSION");
}

}  // namespace

bool side_names_url(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const auto& word) { return word == "--url" || word.starts_with("--url="); });
}

core::Result<workflows::LlmSide> parse_llm_side(const std::vector<std::string>& words, const std::string& name) {
  CLI::App side("side", name);
  side.set_help_flag();
  LlmOptions options;
  add_request_options(side, options);
  add_llm_model_options(side, options.in_process);
  refuse_empty_values(side);
  try {
    side.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& problem) {
    return core::fail(core::ErrorCode::invalid_argument, name + ": " + parse_problem(problem),
                      "see 'aaco llm --help' for the options that a side accepts");
  }
  if (auto resolved = resolve(options); !resolved) return tl::unexpected(std::move(resolved).error().with(name));
  if (!options.request.url.empty()) {
    if (auto status = refuse_llm_model_options(side); !status) return tl::unexpected(std::move(status).error().with(name));
    return workflows::LlmSide(options.request);
  }
  if (options.request.model.empty())
    return core::fail(core::ErrorCode::invalid_argument, name + ": missing --url or --model",
                      "a server: --url http://HOST:PORT/v1; a decoder in this process: --model gpt2");
  if (!options.in_process.request.contexts) options.in_process.no_curve = true;
  auto request = resolve_llm_model(side, options.in_process, options.request);
  if (!request) return tl::unexpected(std::move(request).error().with(name));
  if (request->run.isolation.wanted())
    return core::fail(core::ErrorCode::invalid_argument, name + ": --isolate does not apply to a side");
  if (request->run.profile)
    return core::fail(core::ErrorCode::invalid_argument, name + ": --profile does not apply to a side",
                      "profile each alone: aaco llm --model MODEL --profile");
  return workflows::LlmSide(*std::move(request));
}

std::vector<std::string> with_options_of(const std::vector<std::string>& a, std::vector<std::string> b) {
  // Of options that exclude each other B's one replaces A's.
  const auto option_of = [](const std::string& word) -> std::string {
    if (word == "-m") return "--model";
    if (word == "-b") return "--backend";
    if (!word.starts_with("--")) return {};
    const std::string option = word.substr(0, word.find('='));
    if (option == "--rate" || option == "--replay") return "--concurrency";
    return option == "--duration" ? "--requests" : option;
  };
  const auto has = [&](const std::string& option) {
    return std::any_of(b.begin(), b.end(), [&](const auto& word) { return option_of(word) == option; });
  };
  std::vector<std::string> words;
  bool taken = false;
  for (const std::string& word : a) {
    if (const std::string option = option_of(word); !option.empty()) taken = !has(option);
    if (taken) words.push_back(word);
  }
  words.insert(words.end(), b.begin(), b.end());
  return words;
}

void add_llm(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "llm", "Measure a language model token by token: a server under load (--url) or a decoder in this process (--model)");
  auto options = std::make_shared<LlmOptions>();
  auto& request = options->request;
  add_request_options(*verb, *options);
  verb->add_flag("--self-test", options->self_test,
                 "Measure the client itself against a built-in server and store its ceiling in chunks per second")
      ->excludes("--url");
  verb->add_option("--recover", options->recover,
                   "Make a session of the requests of a killed load that had ended (id, path or tag:NAME)")
      ->excludes("--url")
      ->excludes("--self-test")
      ->type_name("SESSION");
  verb->add_option("--definitions", request.definitions,
                   "Also print the figures as these tools define them: vllm, guidellm, aiperf")
      ->type_name("TOOLS");
  verb->add_option("--tag", request.tag, "Tag for the session, to refer to it as tag:NAME");
  verb->add_option("-o,--out", context.paths.sessions, "Root folder for sessions (same as --sessions)");
  verb->add_flag("--json", options->json, "Print JSON instead of the report");
  verb->add_flag("--no-report", options->no_report, "Do not write the HTML page");
  verb->footer(
      "Latency counts from the time a request was due, not from when it was sent. The first token is the first chunk with "
      "content,\n"
      "not the one with the role. Tokens are counted by the server's usage, not by chunks.\n\n"
      "Ctrl-C ends the load early: the data collected is kept and analysed, the session is marked interrupted and the exit code "
      "is\n"
      "0. A second Ctrl-C terminates immediately; --recover then makes a session of the requests that had ended.\n\n"
      "Examples:\n  aaco llm --url http://localhost:8000/v1 --concurrency 4 --requests 100\n"
      "  aaco llm --url http://localhost:8000/v1 --rate 10 --duration 60s --slo ttft=200ms,tpot=50ms\n"
      "  aaco llm --url http://localhost:8000/v1 --concurrency 1,2,4,8,16 --sweep\n"
      "  aaco llm --url http://localhost:8000/v1 --replay AzureLLMInferenceTrace_code.csv --duration 5m\n"
      "  aaco llm --self-test\n"
      "  aaco llm --model gpt2 --prompt-tokens 256 --output-tokens 64 --batch 1,2,4");
  add_llm_model_options(*verb, options->in_process);
  verb->callback([&context, options, verb] {
    if (options->self_test) return test_client(context, *options);
    if (!options->recover.empty()) return recover(context, *options);
    if (options->request.url.empty()) return measure_model(context, *verb, *options);
    if (auto status = refuse_llm_model_options(*verb); !status) return context.fail(status.error());
    measure_server(context, *options);
  });
}

}  // namespace aaco::cli
