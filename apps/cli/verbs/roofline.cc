#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/context.h"
#include "cli/options/on_fleet.h"
#include "cli/options/session_where.h"
#include "cli/options/whole_number.h"
#include "cli/stop_at_once.h"
#include "core/files.h"
#include "core/numbers.h"
#include "report/quantity.h"
#include "report/render.h"
#include "report/render_svg.h"
#include "report/terminal.h"
#include "workflows/envelope.h"
#include "workflows/envelope_json.h"
#include "workflows/session_report.h"

namespace aaco::cli {
namespace {

using report::Roof;
using workflows::DeviceEnvelope;
using workflows::EnvelopeRoof;

struct RooflineOptions {
  workflows::EnvelopeRequest request;
  std::vector<std::string> where;
  std::string on;
  std::optional<std::int64_t> last;
  std::string svg, html;
  bool json = false;
};

std::string rate(const std::optional<double>& per_second, Roof::Kind kind) {
  return per_second ? report::format_quantity(*per_second, kind == Roof::Kind::compute ? "flop/s" : "bytes/s") : "-";
}

std::string share(const EnvelopeRoof& roof, const std::optional<double>& of) {
  return roof.reached.per_second && of && *of > 0 ? core::format_percent(*roof.reached.per_second / *of) : "-";
}

// "358 GFLOP/s (326 to 381)", the 95 % interval; the unit again where it is another.
std::string with_interval(const analytics::roofline::ReachedRoof& reached, Roof::Kind kind) {
  if (!reached.per_second || !reached.ci95) return "-";
  const std::string value = rate(reached.per_second, kind);
  const std::string unit = value.substr(value.find(' ') == std::string::npos ? 0 : value.find(' '));
  const auto bound = [&](double per_second) {
    std::string text = rate(per_second, kind);
    if (text.ends_with(unit)) text.resize(text.size() - unit.size());
    return text;
  };
  return fmt::format("{} ({} to {})", value, bound(reached.ci95->low), bound(reached.ci95->high));
}

constexpr const char* kRow = "  {:<12} {:>13} {:>13} {:>30} {:>7} {:>7} {:>13} {:>5} {:>7}\n";
constexpr int kRowWidth = 116;

std::optional<double> measured_of(const EnvelopeRoof& roof) {
  return roof.measured ? std::optional(roof.measured->per_second) : std::nullopt;
}

void print_table(const Context& context, const std::vector<EnvelopeRoof>& roofs) {
  context.print(fmt::format(fmt::runtime(kRow), "ROOF", "STATED", "MEASURED", "REACHED (95 % CI)", "/STATED", "/MEAS.", "HIGHEST",
                            "RUNS", "POINTS"));
  for (const EnvelopeRoof& roof : roofs) {
    const auto& reached = roof.reached;
    const auto highest = reached.highest > 0 ? std::optional(reached.highest) : std::nullopt;
    context.print(fmt::format(fmt::runtime(kRow), roof.name, rate(roof.stated, roof.kind), rate(measured_of(roof), roof.kind),
                              with_interval(reached, roof.kind), share(roof, roof.stated), share(roof, measured_of(roof)),
                              rate(highest, roof.kind), reached.runs, reached.points));
  }
}

// The same for narrow terminals, a block a roof.
void print_blocks(const Context& context, const std::vector<EnvelopeRoof>& roofs) {
  for (const EnvelopeRoof& roof : roofs) {
    const auto& reached = roof.reached;
    std::string text = "  " + roof.name + "\n";
    if (roof.stated) text += fmt::format("    stated    {}\n", rate(roof.stated, roof.kind));
    if (roof.measured) text += fmt::format("    measured  {}\n", rate(measured_of(roof), roof.kind));
    if (reached.per_second) {
      text += "    reached   " + with_interval(reached, roof.kind);
      if (roof.stated) text += fmt::format("; {} of stated", share(roof, roof.stated));
      if (roof.measured) text += fmt::format("; {} of measured", share(roof, measured_of(roof)));
      text += "\n";
    }
    if (reached.highest > 0)
      text += fmt::format("    highest   {}; {} points from {} runs\n", rate(reached.highest, roof.kind), reached.points,
                          reached.runs);
    context.print(text);
  }
}

// In lines of the terminal's width, below `indent` spaces; what goes on has two more.
void print_wrapped(const Context& context, const std::string& text, int indent) {
  constexpr int kMinWidth = 40, kMore = 2;
  std::string out;
  for (const std::string& line : report::wrap(text, std::max(kMinWidth, context.width - indent - kMore)))
    out += std::string(static_cast<std::size_t>(indent + (out.empty() ? 0 : kMore)), ' ') + line + "\n";
  context.print(out);
}

void print_device(const Context& context, const DeviceEnvelope& device, const workflows::EnvelopeRequest& request) {
  const auto plural = [](std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  const std::string head = fmt::format(
      "{} ({}){}: {} of {}, {}, {} from counters", device.name, device.id,
      device.threads > 0 ? ", " + plural(static_cast<std::size_t>(device.threads), "thread") : "",
      plural(device.sessions.size(), "run"), plural(device.workloads, "workload"), plural(device.all, "point"), device.counted);
  print_wrapped(context, head, 0);
  if (context.width >= kRowWidth)
    print_table(context, device.roofs);
  else
    print_blocks(context, device.roofs);
  for (const EnvelopeRoof& roof : device.roofs)
    if (!roof.reached.per_second)
      print_wrapped(context, fmt::format("no envelope for {}: {}", roof.name, roof.reached.reason), 2);
  for (const EnvelopeRoof& roof : device.roofs)
    if (roof.measured)
      print_wrapped(context,
                    fmt::format("measured {}: {}, {}, {}", roof.name, device.calibration, roof.measured->of,
                                plural(static_cast<std::size_t>(roof.measured->sites), "site")),
                    2);
  if (device.fitted())
    print_wrapped(
        context,
        fmt::format("REACHED: the {:g} % quantile over the runs' time ({} of the time is above it), with a 95 % CI from "
                    "resampling runs. A quantile is used because a single wrong timestamp would determine the maximum.",
                    100 * request.options.quantile, core::format_percent(device.above_ratio)),
        2);
  for (const std::string& note : device.notes) print_wrapped(context, note, 2);
}

core::Status draw(const RooflineOptions& options, const workflows::EnvelopeOutcome& outcome, const Context& context) {
  if (options.svg.empty() && options.html.empty()) return {};
  if (outcome.devices.size() != 1)
    return core::fail(core::ErrorCode::invalid_argument,
                      fmt::format("a plot shows exactly one device, but the sessions ran on {}", outcome.devices.size()),
                      "select one with --device");
  const auto model = workflows::envelope_report(outcome.devices.front(), options.request);
  if (!options.svg.empty()) {
    AACO_ASSIGN(const std::string svg, render_svg(model, "roofline"));
    AACO_TRY(core::write_file_atomic(options.svg, svg));
  }
  if (options.html.empty()) return {};
  AACO_ASSIGN(const std::string page, workflows::render_page(model, context.paths));
  return core::write_file_atomic(options.html, page);
}

void show(Context& context, RooflineOptions& options) {
  stop_at_once();
  auto where = parse_where(options.where);
  if (!where) return context.fail(where.error());
  options.request.where = *std::move(where);
  if (options.last) options.request.last = static_cast<std::size_t>(*options.last);
  const auto& request = options.request;
  if (const auto checked = workflows::check_where(request.where); !checked) return context.fail(checked.error());
  const auto services =
      services_on(options.on, {.names = request.sessions, .all = true, .where = request.where, .last = request.last}, context);
  if (!services) return context.fail(services.error());
  const auto outcome = workflows::fit_envelopes(request, *services);
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  if (const auto drawn = draw(options, *outcome, context); !drawn) return context.fail(drawn.error());
  if (options.json)
    context.print_json(to_json(*outcome, options.request));
  else
    for (const DeviceEnvelope& device : outcome->devices) print_device(context, device, options.request);
  for (const auto& [why, count] : outcome->account.dropped) context.note(fmt::format("skipped: {} ({})", count, why));
  if (!outcome->fitted()) {
    context.note("no envelope: too few runs (see the roofs above)");
    context.exit_code = kInconclusive;
  }
}

}  // namespace

void add_roofline(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "roofline", "Show a device's performance envelope: what many runs reached, compared with data sheet and calibration");
  auto options = std::make_shared<RooflineOptions>();
  auto& request = options->request;
  verb->add_option("sessions", request.sessions, "Sessions (default: all)");
  verb->add_option("--where", options->where, "Only sessions with this model, backend, kind, tag or fingerprint (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--device", request.device, "Only runs on this device: an id or alias from 'aaco hardware ls', or 'this'");
  verb->add_option("--last", options->last, "Only the newest N sessions")->check(positive_count());
  verb->add_option("--quantile", request.options.quantile, "Fraction of the runs' time below the envelope, 0.5 to 0.999")
      ->check(number_in(0.5, 0.999))
      ->capture_default_str();
  verb->add_option("--seed", request.options.seed, "Seed for resampling")->check(seed_number())->capture_default_str();
  add_on_fleet(*verb, options->on);
  verb->add_option("--svg", options->svg, "Plot one device's roofs and points to this SVG file");
  verb->add_option("--html", options->html, "Plot one device's roofs and points to this HTML file");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->footer(
      "Examples:\n  aaco roofline --device this\n  aaco roofline --where model=resnet50 --json\n  aaco roofline --device mi300x "
      "--svg envelope.svg\n\nOnly runs with known work are used: 'aaco run --profile' on a machine measured by 'aaco hardware "
      "probe', and imported traces\n"
      "with operator shapes or hardware counters. An envelope needs at least 6 runs; with fewer, the exit code is 4.");
  verb->callback([&context, options] { show(context, *options); });
}

}  // namespace aaco::cli
