#include "cli/options/ab_sides.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/options/parse_problem.h"
#include "cli/options/run_options.h"
#include "core/numbers.h"

namespace aaco::cli {
namespace {

using core::ErrorCode;

core::Result<workflows::InjectedDelay> parse_delay(const std::string& text) {
  workflows::InjectedDelay delay;
  if (text.empty()) return delay;
  if (text.ends_with('%')) {
    if (const auto ratio = core::parse_ratio(text); ratio && *ratio >= 0 && *ratio <= 10) {
      delay.ratio = *ratio;
      return delay;
    }
  } else if (const auto ns = core::parse_duration_ns(text); ns && *ns >= 0 && *ns <= 60'000'000'000) {
    delay.ns = *ns;
    return delay;
  }
  return core::fail(ErrorCode::invalid_argument,
                    "invalid value '" + text + "' for '--inject-delay': expected a ratio such as 5% or a duration such as 200us");
}

// What the comparison itself decides, so that a side may not.
core::Status check_side(const workflows::RunRequest& request) {
  const auto refuse = [](std::string option, std::string remedy) {
    return core::fail(ErrorCode::invalid_argument, option + " cannot be set for one side only", std::move(remedy));
  };
  if (request.duration) return refuse("--duration", "put it before the first '--'; it applies to both sides");
  if (request.iterations) return refuse("--iterations", "put it before the first '--'; it applies to both sides");
  if (request.precision_ratio)
    return refuse("--precision", "remove it: ab stops once the result is conclusive; see --detectable");
  if (request.ebpf) return refuse("--ebpf", "remove it: ab compares latency only; use 'aaco run --ebpf'");
  if (request.telemetry) return refuse("--telemetry", "remove it: ab compares latency only; use 'aaco run --telemetry'");
  if (request.isolation.wanted())
    return refuse("--isolate", "isolate the whole comparison: aaco capsule --level standard -- aaco ab ...");
  if (request.drop_disturbed)
    return refuse("--drop-disturbed", "remove it: interleaving exposes both sides to the same external load");
  if (request.profile) return refuse("--profile", "remove it: use 'aaco run --profile'");
  return {};
}

struct SideOptions {
  CLI::App app;
  RunOptions run;
  std::string delay;

  explicit SideOptions(const std::string& name) : app("side", name), run(app) {
    app.set_help_flag();
    app.add_option("--inject-delay", delay);
  }
  // Throws CLI::ParseError.
  void parse(const std::vector<std::string>& words) { app.parse(std::vector<std::string>(words.rbegin(), words.rend())); }
};

}  // namespace

std::vector<std::vector<std::string>> split_sides(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> sides(1);
  for (const std::string& word : words) {
    if (word == "--") {
      sides.emplace_back();
      continue;
    }
    sides.back().push_back(word);
  }
  if (sides.front().empty() && sides.size() > 1) sides.erase(sides.begin());
  return sides;
}

core::Result<workflows::AbSide> parse_ab_side(const std::vector<std::string>& words, const std::string& name) {
  SideOptions side_options(name);
  try {
    side_options.parse(words);
  } catch (const CLI::ParseError& problem) {
    return core::fail(ErrorCode::invalid_argument, name + ": " + parse_problem(problem),
                      "see 'aaco run --help' for the options that a side accepts");
  }
  const auto in_side = [&](core::Error error) { return tl::unexpected<core::Error>(std::move(error).with(name)); };
  workflows::AbSide side;
  auto request = side_options.run.resolve();
  if (!request) return in_side(request.error());
  if (const auto checked = check_side(*request); !checked) return in_side(checked.error());
  auto injected = parse_delay(side_options.delay);
  if (!injected) return in_side(injected.error());
  side.request = *std::move(request);
  side.delay = *injected;
  return side;
}

bool side_names_model(const std::vector<std::string>& words) {
  SideOptions options("side");
  try {
    options.parse(words);
  } catch (const CLI::ParseError&) {
    return true;
  }
  return options.run.names_model();
}

}  // namespace aaco::cli
