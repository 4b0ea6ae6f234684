#include "workflows/diff.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/list_and_ratio.h"
#include "cli/options/on_fleet.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"
#include "cli/output/compiler_output.h"
#include "cli/output/side_by_side_output.h"
#include "cli/output/verdict_output.h"
#include "core/files.h"
#include "workflows/baseline.h"
#include "workflows/compiler_diff.h"
#include "workflows/diff_json.h"
#include "workflows/side_by_side.h"

namespace aaco::cli {
namespace {

struct DiffOptions {
  std::vector<std::string> sides;
  std::string baseline, session, threshold = "5%", metrics, on;
  bool force = false, drop_disturbed = false, no_history = false, no_store = false;
  bool kernels = false, tree = false;
  std::size_t rows = 30;
  VerdictOutput output;
};

// --baseline: sessions, or what 'aaco baseline' keeps, by name or file; FILE.json finds FILE.yaml.
core::Result<std::string> baseline_side(const std::string& named, const Context& context) {
  if (core::exists(named) && !core::is_directory(named)) return named;
  const workflows::Services services = make_services(context);
  constexpr std::string_view kJson = ".json";
  if (named.ends_with(kJson)) {
    const std::string file = core::base_name(named);
    return workflows::find_baseline(file.substr(0, file.size() - kJson.size()), services);
  }
  if (auto found = workflows::find_baseline(named, services)) return *found;
  return named;
}

core::Result<workflows::DiffRequest> resolve(const DiffOptions& options, const Context& context) {
  workflows::DiffRequest request;
  AACO_ASSIGN(request.metrics.threshold_ratio, parse_threshold(options.threshold, "--threshold"));
  request.metrics.names = list_of(options.metrics);
  request.force = options.force;
  request.drop_disturbed = options.drop_disturbed;
  request.use_history = !options.no_history;
  request.store = !options.no_store && options.on.empty();
  std::vector<std::string> sides = options.sides;
  if (!options.baseline.empty()) {
    AACO_ASSIGN(std::string baseline, baseline_side(options.baseline, context));
    sides.insert(sides.begin(), std::move(baseline));
  }
  if (!options.session.empty())
    sides.push_back(options.session);
  else if (!options.baseline.empty() && sides.size() == 1)
    sides.emplace_back("latest");
  if (sides.size() != 2)
    return core::fail(core::ErrorCode::invalid_argument,
                      "diff needs exactly two sides (A B), got " + std::to_string(sides.size()),
                      "use 'aaco diff A B' or 'aaco diff --baseline FILE --session SESSION'");
  request.baseline = list_of(sides[0]);
  request.candidate = list_of(sides[1]);
  return request;
}

void show_side_by_side(Context& context, const DiffOptions& options, const workflows::DiffRequest& request,
                       const workflows::Services& services) {
  if (request.baseline.size() != 1 || request.candidate.size() != 1)
    return context.fail({core::ErrorCode::invalid_argument,
                         "--kernels and --tree compare one session per side",
                         "give one session for A and one for B",
                         {}});
  if (!options.output.html.empty())
    return context.fail(
        {core::ErrorCode::invalid_argument, "--html is not supported with --kernels and --tree", "use --json", {}});
  const auto sides =
      workflows::side_by_side({request.baseline.front(), request.candidate.front(), options.kernels, options.tree}, services);
  if (!sides) return context.fail(sides.error());
  context.progress("");
  if (options.output.json) return context.print_json(to_json(*sides));
  print_side_by_side(context, *sides, options.rows);
}

// Of two sessions of 'aaco compiler': no measurements, so no verdict.
void show_compiled(Context& context, const DiffOptions& options, const core::Json& difference) {
  if (!options.output.html.empty())
    return context.fail({core::ErrorCode::invalid_argument,
                         "--html is not supported for sessions of 'aaco compiler'",
                         "use --json, or 'aaco report SESSION --html FILE' for one of them",
                         {}});
  options.output.json ? context.print_json(difference) : print_model_difference(context, difference);
}

void compare(Context& context, const DiffOptions& options) {
  const auto request = resolve(options, context);
  if (!request) return context.fail(request.error());
  workflows::FleetChoice choice{.names = request->baseline, .history = request->use_history};
  choice.names.insert(choice.names.end(), request->candidate.begin(), request->candidate.end());
  const auto services = services_on(options.on, choice, context);
  if (!services) return context.fail(services.error());
  if (request->baseline.size() == 1 && request->candidate.size() == 1 && !options.kernels && !options.tree) {
    const auto compiled = workflows::diff_compiler_sessions(request->baseline.front(), request->candidate.front(), *services);
    if (!compiled) return context.fail(compiled.error());
    if (*compiled) return show_compiled(context, options, **compiled);
  }
  if (options.kernels || options.tree) return show_side_by_side(context, options, *request, *services);
  const auto outcome = workflows::diff(*request, *services);
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  context.exit_code = exit_code_for(outcome->verdict);
  show_verdict(context, *outcome, to_json(*outcome, *request), options.output);
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "diff", "Compare two sessions (or sets of sessions): what changed, by how much, and with what confidence");
  auto options = std::make_shared<DiffOptions>();
  verb->add_option("sides", options->sides,
                   "Session A (baseline) and session B (candidate); repeated measurements as ID,ID,... or tag:NAME")
      ->type_name("A B")
      ->expected(-1);  // how many are right is said in the program's own words
  verb->add_option("--baseline", options->baseline, "Side A: sessions, or a baseline by name or file (see 'aaco baseline add')");
  verb->add_option("--session", options->session, "Side B (default with --baseline: latest)");
  verb->add_option("--threshold", options->threshold, "Treat smaller changes as equivalent")->capture_default_str();
  verb->add_option(
      "--metric", options->metrics,
      "Metrics to compare; the first one decides the verdict: ids such as latency.p99_ns, throughput.items_per_second, "
      "memory.rss_peak_bytes, gpu.busy_ns; gpu.* for a whole group; p50, p90, p95, p99 and mean as short forms");
  verb->add_flag("--force", options->force, "Compare even if the sessions are not comparable");
  verb->add_flag("--drop-disturbed", options->drop_disturbed,
                 "Exclude iterations affected by external load (unless fewer than 20 would remain in a session)");
  verb->add_flag("--no-history", options->no_history, "Do not estimate run-to-run variation from stored sessions");
  verb->add_flag("--no-store", options->no_store, "Do not update regress/ in session B");
  verb->add_flag(
      "--kernels", options->kernels,
      "Show the kernels of two traces side by side (count, mean and total per step), matched by name, then by operator "
      "and family; no verdict, any devices");
  verb->add_flag("--tree", options->tree, "Show the call trees of two traces side by side: operators, ranges and their kernels");
  verb->add_option("--rows", options->rows, "Rows of --kernels and --tree to print")
      ->check(whole_number(1, kMaxCount))
      ->capture_default_str();
  add_on_fleet(*verb, options->on);
  add_verdict_output(*verb, options->output);
  verb->footer(
      "Examples:\n  aaco diff tag:nightly latest --threshold 3%\n  aaco diff ID1,ID2,ID3 ID4,ID5,ID6 --metric "
      "p99,throughput\n  aaco diff A B --kernels --tree\n\nIdentical runs vary: give several sessions per side, or use 'aaco "
      "ab'. Two sessions of 'aaco compiler' are compared by what is fused and where it runs.\nExit codes: 0 equivalent or "
      "improvement, 1 regression, 4 inconclusive or not comparable.");
  verb->callback([&context, options] { compare(context, *options); });
}

}  // namespace aaco::cli
