#include "workflows/compare_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "core/numbers.h"
#include "estimation/kernel.h"
#include "workflows/hardware.h"
#include "workflows/predict.h"

namespace aaco::workflows {
namespace {

using Rank = CompareModelsRequest::Rank;

constexpr std::size_t kMaxPoints = 10'000;

// Every combination, in the order given.
std::vector<ComparedPoint> points_of(const CompareModelsRequest& request) {
  std::vector<ComparedPoint> points(1);
  const auto expand = [&points](const auto& values, auto&& apply) {
    if (values.empty()) return;
    std::vector<ComparedPoint> next;
    for (const ComparedPoint& point : points)
      for (const auto& value : values) {
        next.push_back(point);
        apply(next.back(), value);
      }
    points = std::move(next);
  };
  points.front().batch = request.base.model.batch.value_or(0);  // 0: as the model has it
  points.front().dtype = request.base.conditions.dtype;
  points.front().power_cap_watts = request.base.conditions.power_cap_watts;
  expand(request.models, [](ComparedPoint& point, const std::string& value) { point.model = value; });
  expand(request.hardware, [](ComparedPoint& point, const std::string& value) { point.hardware = value; });
  expand(request.batches, [](ComparedPoint& point, std::int64_t value) { point.batch = value; });
  expand(request.dtypes, [](ComparedPoint& point, const std::string& value) { point.dtype = value; });
  expand(request.power_caps, [](ComparedPoint& point, double value) { point.power_cap_watts = value; });
  expand(request.device_counts, [](ComparedPoint& point, std::int64_t value) { point.devices = value; });
  return points;
}

// Models are opened once for each share of a batch.
class Models {
 public:
  Models(const ModelRequest& base, const Services& services) : base_(base), services_(services) {}

  const core::Result<graph::Model>& open(const std::string& name, std::int64_t batch) {
    const auto key = std::pair(name, batch);
    if (const auto known = opened_.find(key); known != opened_.end()) return known->second;
    ModelRequest request = base_;
    request.name = name;
    if (batch > 0) request.batch = batch;
    return opened_.emplace(key, open_model(request, services_)).first->second;
  }

 private:
  const ModelRequest& base_;
  const Services& services_;
  std::map<std::pair<std::string, std::int64_t>, core::Result<graph::Model>> opened_;
};

void fill(ComparedPoint& point, const CompareModelsRequest& request, Models& models, const Services& services) {
  const auto fail = [&point](const core::Error& error) {
    point.error_code = error.code;
    point.error = error.message;
  };
  const auto device = find_device(point.hardware, services);
  if (!device) return fail(device.error());
  if (point.devices > 1 && point.batch > 0 && point.batch < point.devices) {
    point.error = fmt::format("a batch of {} cannot be split across {} devices", point.batch, point.devices);
    return;
  }
  const std::int64_t share = point.batch > 0 ? (point.batch + point.devices - 1) / point.devices : 0;
  const auto& model = models.open(point.model, share);
  if (!model) return fail(model.error());
  estimation::Conditions conditions = request.base.conditions;
  conditions.dtype = point.dtype;
  conditions.power_cap_watts = point.power_cap_watts;
  auto prediction = predict(*model, point.model, *device, conditions, services.paths);
  if (!prediction) return fail(prediction.error());
  if (point.batch <= 0) point.batch = prediction->batch * point.devices;
  const auto& estimate = prediction->estimate;
  point.rates = rates_of(*prediction, static_cast<double>(point.batch), static_cast<double>(point.devices));
  if (estimate.memory && estimate.memory_parts.device_bytes > 0)
    point.fits = estimate.memory->value <= static_cast<double>(estimate.memory_parts.device_bytes);
  point.prediction = std::move(*prediction);
}

// What was asked for twice, under two names of a device or type too, is one point.
void drop_repeated(std::vector<ComparedPoint>& points, const Services& services) {
  std::map<std::string, std::string> devices;  // by the name that was given
  std::set<std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::string, std::optional<double>>> seen;
  std::erase_if(points, [&](const ComparedPoint& point) {
    const auto [device, fresh] = devices.try_emplace(point.hardware, point.hardware);
    if (fresh)
      if (const auto found = find_device(point.hardware, services)) device->second = found->id_with_state();
    return !seen.emplace(point.model, device->second, point.batch, point.devices, estimation::canonical_type(point.dtype),
                         point.power_cap_watts)
                .second;
  });
}

// The smaller the better.
double key_of(const ComparedPoint& point, Rank rank) {
  constexpr double kLast = 1e300;
  const auto& estimate = point.prediction->estimate;
  switch (rank) {
    case Rank::latency: return estimate.latency.value;
    case Rank::throughput: return -point.rates->items_per_s.value;
    case Rank::energy: return point.rates->joules_per_item ? point.rates->joules_per_item->value : kLast;
    case Rank::memory: return estimate.memory ? estimate.memory->value : kLast;
  }
  return kLast;
}

// Each model's points in a list of their own, in the order of `models`: which model is faster is no question of a ranking.
void sort(std::vector<ComparedPoint>& points, const std::vector<std::string>& models, Rank rank) {
  const auto model = [&](const ComparedPoint& point) { return std::find(models.begin(), models.end(), point.model); };
  std::stable_sort(points.begin(), points.end(), [&](const ComparedPoint& a, const ComparedPoint& b) {
    const auto order = [](const ComparedPoint& point) { return point.prediction ? (point.fits ? 0 : 1) : 2; };
    if (const auto one = model(a), other = model(b); one != other) return one < other;
    if (order(a) != order(b)) return order(a) < order(b);
    return a.prediction && key_of(a, rank) < key_of(b, rank);
  });
}

std::string_view rank_name(Rank rank) {
  switch (rank) {
    case Rank::latency: return "latency";
    case Rank::throughput: return "throughput";
    case Rank::energy: return "energy";
    case Rank::memory: return "memory";
  }
  return "";
}

std::string condition_text(const ComparedPoint& point) {
  std::string text = point.batch > 0 ? fmt::format("batch {}", point.batch) : "default batch";
  if (point.devices > 1) text += fmt::format(" on {} devices", point.devices);
  if (!point.dtype.empty()) text += ", " + point.dtype;
  if (point.power_cap_watts) text += fmt::format(", {:g} W", *point.power_cap_watts);
  return text;
}

// What the rank goes by, with its interval; empty: not predicted.
std::optional<estimation::Estimate> ranked_by(const ComparedPoint& point, Rank rank) {
  switch (rank) {
    case Rank::throughput: return point.rates->items_per_s;
    case Rank::energy: return point.rates->joules_per_item;
    case Rank::memory: return point.prediction->estimate.memory;
    case Rank::latency: break;
  }
  return point.prediction->estimate.latency;
}

// How many places behind the first have an interval that overlaps its own: intervals that do, do not decide which is better.
std::size_t undecided(std::span<const ComparedPoint> points, Rank rank) {
  if (points.empty() || !points.front().prediction) return 0;
  const auto first = ranked_by(points.front(), rank);
  if (!first) return 0;
  return static_cast<std::size_t>(std::count_if(points.begin() + 1, points.end(), [&](const ComparedPoint& point) {
    const auto other = point.prediction ? ranked_by(point, rank) : std::nullopt;
    return other && other->lower < first->upper && first->lower < other->upper;
  }));
}

// The points of each model, which lie side by side.
std::vector<std::span<const ComparedPoint>> by_model(std::span<const ComparedPoint> points) {
  std::vector<std::span<const ComparedPoint>> groups;
  for (std::size_t from = 0, at = 1; at <= points.size(); ++at) {
    if (at < points.size() && points[at].model == points[from].model) continue;
    groups.push_back(points.subspan(from, at - from));
    from = at;
  }
  return groups;
}

std::string joules_text(const std::optional<estimation::Estimate>& energy) {
  return energy ? fmt::format("{:.3g}", energy->value) : "-";
}

void add_columns(const std::vector<std::string>& names, report::PaperTable& table) {
  for (const std::string& name : names) {
    table.header.push_back(name);
    table.numeric.push_back(true);
  }
}

std::vector<std::string> row_of(const ComparedPoint& point, std::size_t place, bool tokens) {
  const auto& e = point.prediction->estimate;
  const report::Rates& rates = *point.rates;
  std::vector<std::string> row{std::to_string(place),
                               point.model,
                               e.device_id,
                               condition_text(point),
                               core::format_duration(e.latency.value),
                               core::format_duration(e.latency.lower) + " to " + core::format_duration(e.latency.upper),
                               std::string(to_string(e.latency.level)),
                               report::rate_text(rates.items_per_s.value)};
  if (tokens) row.push_back(rates.tokens_per_s ? report::rate_text(rates.tokens_per_s->value) : "-");
  const auto& item = rates.joules_per_item;
  row.push_back(joules_text(item));
  row.push_back(item ? fmt::format("{:.3g} to {:.3g}", item->lower, item->upper) : "-");
  if (tokens) row.push_back(joules_text(rates.joules_per_token));
  row.push_back(e.power ? fmt::format("{:.0f}", e.power->value * static_cast<double>(point.devices)) : "-");
  row.push_back(e.memory ? core::format_bytes(e.memory->value) + (point.fits ? "" : " DOES NOT FIT") : "-");
  return row;
}

}  // namespace

core::Result<std::vector<ComparedPoint>> compare_models(const CompareModelsRequest& request, const Services& services) {
  std::vector<ComparedPoint> points = points_of(request);
  if (points.size() > kMaxPoints)
    return core::fail(core::ErrorCode::invalid_argument,
                      fmt::format("{} combinations requested; the maximum is {}", points.size(), kMaxPoints));
  drop_repeated(points, services);
  Models models(request.base.model, services);
  std::size_t done = 0;
  for (ComparedPoint& point : points) {
    services.progress(fmt::format("{} of {}: {} on {}", ++done, points.size(), point.model, point.hardware));
    fill(point, request, models, services);
  }
  if (std::none_of(points.begin(), points.end(), [](const ComparedPoint& point) { return point.prediction.has_value(); }))
    return core::fail(points.front().error_code, "no prediction succeeded: " + points.front().model + " on " +
                                                     points.front().hardware + ": " + points.front().error);
  sort(points, request.models, request.rank);
  return points;
}

report::PaperTable comparison_table(const std::vector<ComparedPoint>& points) {
  report::PaperTable table;
  table.header = {"rank",
                  "model",
                  "hardware",
                  "batch",
                  "devices",
                  "dtype",
                  "power_cap_watts",
                  "latency_ns",
                  "lower_ns",
                  "upper_ns",
                  "items_per_s",
                  "joules_per_item",
                  "memory_bytes",
                  "fits",
                  "level",
                  "joules_per_item_lower",
                  "joules_per_item_upper",
                  "tokens_per_s",
                  "joules_per_token",
                  "joules_per_token_lower",
                  "joules_per_token_upper",
                  "energy_level",
                  "error"};
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : std::string(); };
  std::size_t place = 0;
  std::string_view model;
  for (const ComparedPoint& point : points) {
    if (std::exchange(model, point.model) != point.model) place = 0;
    const std::string batch = point.batch > 0 ? std::to_string(point.batch) : "";
    std::vector<std::string> row{
        "", point.model, point.hardware, batch, std::to_string(point.devices), point.dtype, number(point.power_cap_watts)};
    if (point.prediction) {
      const auto& e = point.prediction->estimate;
      row[0] = std::to_string(++place);
      row[2] = e.device_id;
      for (const double time : {e.latency.value, e.latency.lower, e.latency.upper}) row.push_back(fmt::format("{:.0f}", time));
      const report::Rates& rates = *point.rates;
      const auto& item = rates.joules_per_item;
      const auto& token = rates.joules_per_token;
      const auto value = [](const estimation::Estimate& one) { return one.value; };
      const auto lower = [](const estimation::Estimate& one) { return one.lower; };
      const auto upper = [](const estimation::Estimate& one) { return one.upper; };
      const auto cell = [](const std::optional<estimation::Estimate>& one, const auto& part) {
        return one ? fmt::format("{:.6g}", part(*one)) : std::string();
      };
      row.push_back(cell(rates.items_per_s, value));
      row.push_back(cell(item, value));
      row.push_back(e.memory ? fmt::format("{:.0f}", e.memory->value) : "");
      row.emplace_back(point.fits ? "true" : "false");
      row.emplace_back(to_string(e.latency.level));
      for (std::string text : {cell(item, lower), cell(item, upper), cell(rates.tokens_per_s, value), cell(token, value),
                               cell(token, lower), cell(token, upper)})
        row.push_back(std::move(text));
      row.emplace_back(item ? to_string(item->level) : std::string_view());
    }
    row.resize(table.header.size() - 1);
    row.push_back(point.error);
    table.rows.push_back(std::move(row));
  }
  return table;
}

namespace {

// `tokens`: with the columns of tokens.
report::PaperSection section_of(std::span<const ComparedPoint> points, const CompareModelsRequest& request, bool tokens) {
  report::PaperSection section;
  auto& table = section.table;
  table.header = {"#", "MODEL", "HARDWARE", "CONDITIONS", "LATENCY", "90 % INTERVAL", "LEVEL", "ITEMS/S"};
  table.numeric = {true, false, false, false, true, true, false, true};
  if (tokens) add_columns({"TOKENS/S"}, table);
  add_columns({"J/ITEM", "J 90 % INTERVAL"}, table);
  if (tokens) add_columns({"J/TOKEN"}, table);
  add_columns({"WATTS", "MEMORY"}, table);
  std::size_t place = 0;
  for (const ComparedPoint& point : points) {
    if (point.prediction) {
      table.rows.push_back(row_of(point, ++place, tokens));
      continue;
    }
    table.rows.push_back({"-", point.model, point.hardware, condition_text(point)});
    table.rows.back().resize(table.header.size(), "-");
    section.lines.push_back("No prediction for " + point.model + " on " + point.hardware + " (" + condition_text(point) +
                            "): " + point.error);
  }
  if (const std::size_t rivals = undecided(points, request.rank); rivals > 0)
    section.lines.push_back(
        fmt::format("The ranking is uncertain: the interval of the top entry overlaps with {} other(s).", rivals));
  return section;
}

}  // namespace

report::Paper comparison_paper(const std::vector<ComparedPoint>& points, const CompareModelsRequest& request) {
  report::Paper paper{fmt::format("Predictions, ranked by {}", rank_name(request.rank)), {}};
  const auto groups = by_model(points);
  const bool tokens = std::any_of(points.begin(), points.end(),
                                  [](const ComparedPoint& point) { return point.rates && point.rates->tokens_per_s; });
  for (const auto& group : groups) {
    paper.sections.push_back(section_of(group, request, tokens));
    if (groups.size() > 1) paper.sections.back().title = group.front().model;
  }
  if (!request.device_counts.empty())
    paper.sections.back().lines.emplace_back("Multiple devices split the batch (data parallel); communication is not modelled.");
  return paper;
}

core::Json comparison_json(const std::vector<ComparedPoint>& points, const CompareModelsRequest& request) {
  core::Json list = core::Json::array();
  std::int64_t place = 0;
  std::string_view model;
  for (const ComparedPoint& point : points) {
    if (std::exchange(model, point.model) != point.model) place = 0;
    core::Json one = core::Json::object({{"model", point.model}, {"hardware", point.hardware}, {"devices", point.devices}});
    if (point.batch > 0) one.set("batch", point.batch);
    if (!point.dtype.empty()) one.set("dtype", point.dtype);
    one.set_if("power_cap_watts", point.power_cap_watts);
    if (!point.prediction) {
      list.push(one.set("error", point.error));
      continue;
    }
    one.set("rank", ++place).set("fits", point.fits);
    const report::Rates& rates = *point.rates;
    const auto value = [](const std::optional<estimation::Estimate>& rate) {
      return rate ? std::optional<double>(rate->value) : std::nullopt;
    };
    one.set("items_per_s", rates.items_per_s.value).set_if("joules_per_item", value(rates.joules_per_item));
    one.set_if("tokens_per_s", value(rates.tokens_per_s)).set_if("joules_per_token", value(rates.joules_per_token));
    one.set("rates", to_json(rates));
    list.push(one.set("estimate", to_json(point.prediction->estimate, false)));
  }
  return core::Json::object({{"schema_version", 1}, {"ranked_by", rank_name(request.rank)}, {"points", std::move(list)}});
}

}  // namespace aaco::workflows
