#include "workflows/ab.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/ab_sides.h"
#include "cli/options/list_and_ratio.h"
#include "cli/options/llm_side.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"
#include "cli/output/verdict_output.h"
#include "core/environment.h"
#include "core/numbers.h"
#include "workflows/ab_json.h"
#include "workflows/ab_llm.h"

namespace aaco::cli {
namespace {

struct AbOptions {
  std::vector<std::string> words;
  workflows::AbRequest request;
  std::string duration = "60s", threshold = "2%", detectable, block;
  bool no_store = false, llm = false;
  VerdictOutput output;
};

core::Status resolve_sides(AbOptions& options) {
  auto sides = split_sides(options.words);
  if (sides.size() != 2)
    return core::fail(core::ErrorCode::invalid_argument,
                      fmt::format("ab needs exactly two sides (A and B), got {}", options.words.empty() ? 0 : sides.size()),
                      "for example: aaco ab -- --model resnet50 --threads 1 -- --model resnet50 --threads 2");
  AACO_ASSIGN(options.request.a, parse_ab_side(sides[0], "side A"));
  // B takes A's model where it names none: what differs is all it has to say.
  if (!side_names_model(sides[1])) sides[1].insert(sides[1].begin(), {"--model", options.request.a.request.model});
  AACO_ASSIGN(options.request.b, parse_ab_side(sides[1], "side B"));
  options.request.a_words = std::move(sides[0]);
  options.request.b_words = std::move(sides[1]);
  return {};
}

core::Status resolve(AbOptions& options) {
  AACO_TRY(resolve_sides(options));
  auto& request = options.request;
  AACO_ASSIGN(request.duration, parse_time(options.duration, "--duration"));
  AACO_ASSIGN(request.threshold_ratio, parse_threshold(options.threshold, "--threshold"));
  if (!options.detectable.empty()) {
    AACO_ASSIGN(request.detectable_ratio, parse_threshold(options.detectable, "--detectable"));
  }
  if (!options.block.empty()) {
    AACO_ASSIGN(request.block, parse_time(options.block, "--block"));
  }
  request.store = !options.no_store;
  request.worker = {core::executable_path(), "ab-worker"};
  return {};
}

void print_outcome(Context& context, const workflows::AbOutcome& outcome, const AbOptions& options) {
  show_verdict(context, outcome.verdict, to_json(outcome, options.request), options.output);
  if (options.output.json) return;
  context.note(fmt::format("\n{} process round{} in {}; {}", outcome.rounds.size(), outcome.rounds.size() == 1 ? "" : "s",
                           core::format_duration(static_cast<double>(outcome.wall_ns)), outcome.ended));
  if (outcome.a) context.note(fmt::format("side A   {}\nside B   {}", outcome.a->path, outcome.b->path));
}

core::Result<workflows::AbLlmRequest> resolve_servers(const AbOptions& options) {
  const auto sides = split_sides(options.words);
  if (sides.size() != 2)
    return core::fail(core::ErrorCode::invalid_argument,
                      fmt::format("ab needs exactly two sides (A and B), got {}", sides.size()),
                      "for example: aaco ab -- --url http://HOST:8000/v1 --concurrency 4 -- --url http://HOST:8001/v1");
  if (options.request.iterations || options.request.apart || options.no_store)
    return core::fail(core::ErrorCode::invalid_argument,
                      "--iterations, --apart and --no-store do not apply to sides of 'aaco llm' (--url, --llm)",
                      "use --duration and --block; each block is stored as a session");
  workflows::AbLlmRequest request;
  AACO_ASSIGN(request.a, parse_llm_side(sides[0], "side A"));
  AACO_ASSIGN(request.b, parse_llm_side(with_options_of(sides[0], sides[1]), "side B"));
  AACO_ASSIGN(request.duration, parse_time(options.duration, "--duration"));
  AACO_ASSIGN(request.threshold_ratio, parse_threshold(options.threshold, "--threshold"));
  if (!options.block.empty()) {
    AACO_ASSIGN(request.block, parse_time(options.block, "--block"));
  }
  request.force = options.request.force;
  request.tag = options.request.tag;
  return request;
}

void compare_servers(Context& context, const AbOptions& options) {
  const auto request = resolve_servers(options);
  if (!request) return context.fail(request.error());
  const auto outcome = workflows::ab_llm(*request, make_services(context));
  context.progress("");
  if (!outcome) return context.fail(outcome.error());
  context.exit_code = exit_code_for(outcome->verdict.verdict);
  show_verdict(context, outcome->verdict, to_json(*outcome, *request), options.output);
  if (options.output.json) return;
  context.note(fmt::format("\n{} blocks of A and {} of B in {}", outcome->a_paths.size(), outcome->b_paths.size(),
                           core::format_duration(static_cast<double>(outcome->wall_ns))));
}

void compare(Context& context, AbOptions& options) {
  const auto sides = split_sides(options.words);
  if (options.llm || (!sides.empty() && side_names_url(sides.front()))) return compare_servers(context, options);
  if (const auto resolved = resolve(options); !resolved) return context.fail(resolved.error());
  const auto outcome = workflows::ab(options.request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  context.exit_code = exit_code_for(outcome->verdict.verdict);
  print_outcome(context, *outcome, options);
}

}  // namespace

void add_ab(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "ab", "Measure two configurations, interleaved, until it is clear which is faster: aaco ab -- A... -- B...");
  auto options = std::make_shared<AbOptions>();
  auto& request = options->request;
  verb->add_option(
          "--duration", options->duration,
          "Maximum time per side, including loading; servers: blocks of both sides are started until twice this time has passed, "
          "which takes a little longer")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("-n,--iterations", request.iterations, "Maximum number of iterations per side")->check(positive_count());
  verb->add_option("--threshold", options->threshold, "Treat smaller changes as equivalent")->capture_default_str();
  verb->add_option("--detectable", options->detectable,
                   "Continue until a change of this size would be detectable, even if the result is conclusive earlier (default: "
                   "3% above --threshold)");
  verb->add_option("--block", options->block,
                   "Time spent on one side before switching to the other (default: 50ms; 5s for servers)")
      ->type_name("TIME");
  verb->add_flag("--apart", request.apart, "Run each side in its own process");
  verb->add_flag("--llm", options->llm,
                 "Sides are options of 'aaco llm' (implied by --url): whole generations of a decoder in this process");
  verb->add_flag("--force", request.force, "Compare even if shapes or batch sizes differ");
  verb->add_flag("--no-store", options->no_store, "Do not store sessions");
  verb->add_option("--tag", request.tag, "Tag for both sessions");
  verb->add_option("-o,--out", context.paths.sessions, "Root folder for sessions (same as --sessions)");
  add_verdict_output(*verb, options->output);
  verb->add_option(
      "sides", options->words,
      "Options of 'aaco run' for A after the first '--', and for B after the second; with --url or --llm those of 'aaco llm'");
  verb->positionals_at_end();
  verb->footer(
      "Examples:\n"
      "  aaco ab -- --model squeezenet --threads 1 -- --threads 2\n"
      "  aaco ab --duration 30s --threshold 1% -- net.onnx -- net_optimised.onnx\n"
      "  aaco ab -- --url http://HOST:8000/v1 --concurrency 4 -- --url http://HOST:8001/v1\n"
      "  aaco ab --llm -- --model gpt2 --output-tokens 32 --threads 1 -- --threads 2\n\n"
      "B uses A's model unless it specifies its own, and with --url or --llm all of A's options of 'aaco llm'. Add "
      "--inject-delay 5% (or "
      "200us) to a side to slow its calls down and\n"
      "check which differences this machine can detect.\n"
      "Exit codes: 0 equivalent or improvement, 1 regression, 4 inconclusive or not comparable.");
  verb->callback([&context, options] { compare(context, *options); });
}

}  // namespace aaco::cli
