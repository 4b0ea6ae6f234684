#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/csv_cell.h"
#include "core/strings.h"
#include "report/render.h"

namespace aaco::report {
namespace {

// RFC 4180: lines end with CRLF. Bytes stay as they are, but no text begins a formula (core/csv_cell.h).
class CsvTable {
 public:
  explicit CsvTable(const std::vector<std::string_view>& header) {
    for (std::string_view name : header) field(name);
    end();
  }
  CsvTable& field(std::string_view text) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += core::csv_cell(text);
    return *this;
  }
  CsvTable& field(std::int64_t value) { return field(std::string_view(fmt::format("{}", value))); }
  CsvTable& optional(const std::optional<std::int64_t>& value) { return value ? field(*value) : field(std::string_view()); }
  // Shortest text that reads back as the same number; not finite is an empty field.
  CsvTable& field(double value) {
    return field(std::string_view(std::isfinite(value) ? fmt::format("{}", value) : std::string()));
  }
  void end() {
    out_ += "\r\n";
    first_ = true;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  bool first_ = true;
};

std::string iterations(const ReportModel& model) {
  CsvTable table({"phase", "iteration", "start_ns", "duration_ns", "outlier", "disturbance"});
  for (const IterationPoint& point : model.iterations)
    table.field(point.phase)
        .field(point.iteration)
        .field(point.start_ns)
        .field(point.duration_ns)
        .field(std::int64_t{point.outlier})
        .field(point.disturbance)
        .end();
  return table.take();
}

std::string shares(const std::vector<TimeShare>& list) {
  CsvTable table({"name", "group", "provider", "parent", "total_ns", "share_ratio", "count", "ci95_low_ns", "ci95_high_ns"});
  for (const TimeShare& share : list) {
    table.field(share.name)
        .field(share.group)
        .field(share.provider)
        .field(share.parent)
        .field(share.total_ns)
        .field(share.share_ratio)
        .field(share.count);
    if (share.ci95)
      table.field(share.ci95->low).field(share.ci95->high);
    else
      table.field(std::string_view()).field(std::string_view());
    table.end();
  }
  return table.take();
}

std::string metrics(const ReportModel& model) {
  CsvTable table({"id", "device", "value", "unit", "ci95_low", "ci95_high"});
  for (const trace::MetricValue& metric : model.metrics) {
    table.field(metric.id);
    if (metric.device)
      table.field(*metric.device);
    else
      table.field(std::string_view());
    table.field(metric.value).field(metric.unit);
    if (metric.ci95)
      table.field(metric.ci95->low).field(metric.ci95->high);
    else
      table.field(std::string_view()).field(std::string_view());
    table.end();
  }
  return table.take();
}

std::string telemetry(const ReportModel& model) {
  CsvTable table({"metric", "entity", "unit", "time_ns", "value"});
  for (const Series& series : model.telemetry)
    for (std::size_t i = 0; i < std::min(series.time_ns.size(), series.value.size()); ++i)
      table.field(series.metric).field(series.entity).field(series.unit).field(series.time_ns[i]).field(series.value[i]).end();
  return table.take();
}

std::string roofline(const ReportModel& model) {
  CsvTable table({"name", "group", "type", "work_from", "count", "time_ns", "flops", "bytes", "flops_per_byte", "flops_per_s",
                  "reached_ratio", "measured_ratio"});
  if (!model.roofline) return table.take();
  for (const RoofPoint& point : model.roofline->points) {
    table.field(point.name).field(point.group).field(point.type).field(point.work_from).field(point.count);
    table.field(point.time_ns).field(point.flops).field(point.bytes);
    table.field(point.bytes > 0 ? point.flops / point.bytes : NAN)
        .field(point.time_ns > 0 ? point.flops / point.time_ns * 1e9 : NAN);
    table.field(point.reached_ratio.value_or(NAN)).field(point.measured_ratio.value_or(NAN)).end();
  }
  return table.take();
}

std::string scaling(const ReportModel& model) {
  CsvTable table({"label", "session_id", "error", "backend", "batch", "threads", "median_ns", "median_low_ns", "median_high_ns",
                  "p90_ns", "items_per_second", "items_per_second_low", "items_per_second_high", "relative_ratio"});
  const auto value = [&](const std::optional<Scaling::Value>& of) { table.field(of ? of->value : NAN); };
  const auto interval = [&](const std::optional<Scaling::Value>& of) {
    const bool known = of && of->ci95;
    table.field(known ? of->ci95->low : NAN).field(known ? of->ci95->high : NAN);
  };
  for (const Scaling::Point& point : model.sections.scaling.value_or(Scaling()).points) {
    table.field(point.label);
    for (const auto& text : {point.session_id, point.error, point.backend}) table.field(text.value_or(""));
    for (const auto& whole : {point.batch, point.threads})
      if (whole)
        table.field(*whole);
      else
        table.field(std::string_view());
    value(point.median_ns), interval(point.median_ns), value(point.p90_ns);
    value(point.items_per_second), interval(point.items_per_second);
    table.field(point.relative_ratio.value_or(NAN)).end();
  }
  return table.take();
}

std::string work_rates(const ReportModel& model) {
  CsvTable table({"subject", "rank", "device", "name", "family", "data_type", "source", "count", "time_ns", "flops", "bytes",
                  "flops_per_s", "bytes_per_s", "peak_flops_per_s", "peak_bytes_per_s", "flops_ratio", "bytes_ratio"});
  const WorkRates section = model.sections.work_rates.value_or(WorkRates());
  const auto write = [&](std::string_view subject, const std::vector<WorkRates::Rate>& rates) {
    for (const auto& rate : rates) {
      table.field(subject).field(rate.rank).field(rate.device).field(rate.name).field(rate.family).field(rate.data_type);
      table.field(rate.source).field(rate.count).field(rate.time_ns);
      for (const auto& value : {rate.flops, rate.bytes, rate.flops_per_s, rate.bytes_per_s, rate.peak_flops_per_s,
                                rate.peak_bytes_per_s, rate.flops_ratio, rate.bytes_ratio})
        table.field(value.value_or(NAN));
      table.end();
    }
  };
  write("kernel", section.kernels);
  write("operator", section.operators);
  return table.take();
}

std::string collectives(const ReportModel& model) {
  CsvTable table({"operation", "group_size", "count", "time_ns", "wait_ns", "data_bytes", "bus_factor", "algorithm_bytes_per_s",
                  "bus_bytes_per_s", "time_method"});
  for (const auto& kind : model.sections.collectives.value_or(Collectives()).kinds) {
    table.field(kind.operation).optional(kind.group_size).field(kind.count).field(kind.time_ns);
    table.optional(kind.wait_ns).optional(kind.data_bytes).field(kind.bus_factor.value_or(NAN));
    table.field(kind.algorithm_bytes_per_s.value_or(NAN)).field(kind.bus_bytes_per_s.value_or(NAN)).field(kind.time_method).end();
  }
  return table.take();
}

std::string collective_ranks(const ReportModel& model) {
  CsvTable table({"rank", "operation", "count", "time_ns", "wait_ns", "last_count"});
  for (const auto& rank : model.sections.collectives.value_or(Collectives()).ranks)
    table.field(rank.rank)
        .field(rank.operation)
        .field(rank.count)
        .field(rank.time_ns)
        .field(rank.wait_ns)
        .field(rank.last_count)
        .end();
  return table.take();
}

std::string collective_waits(const ReportModel& model) {
  CsvTable table({"instance", "operation", "group", "start_ns", "rank_count", "group_size", "data_bytes", "longest_wait_ns",
                  "wait_sum_ns", "last_rank", "wait_method"});
  for (const auto& call : model.sections.collectives.value_or(Collectives()).worst) {
    table.field(call.instance).field(call.operation).field(call.group).field(call.start_ns).field(call.rank_count);
    table.optional(call.group_size).optional(call.data_bytes).field(call.longest_wait_ns).field(call.wait_sum_ns);
    table.field(call.last_rank).field(call.wait_method).end();
  }
  return table.take();
}

std::string decoder(const ReportModel& model) {
  CsvTable table({"load", "batch", "prompt_tokens", "output_tokens", "complete", "prefill_ns", "prefill_low_ns",
                  "prefill_high_ns", "predicted_prefill_ns", "token_ns", "token_low_ns", "token_high_ns", "predicted_token_ns",
                  "prefill_tokens_per_second", "decode_tokens_per_second", "cache_bytes", "predicted_cache_bytes", "rss_bytes"});
  const auto value = [&](const std::optional<Decoder::Value>& of) { table.field(of ? of->value : NAN); };
  const auto time = [&](const std::optional<Decoder::Value>& of, const std::optional<Decoder::Predicted>& predicted) {
    value(of);
    table.field(of && of->ci95 ? of->ci95->low : NAN).field(of && of->ci95 ? of->ci95->high : NAN);
    table.field(predicted ? predicted->value : NAN);
  };
  for (const Decoder::Level& level : model.sections.decoder.value_or(Decoder()).levels) {
    table.field(level.load).field(level.batch).field(level.prompt_tokens).field(level.output_tokens).field(level.complete);
    time(level.prefill_ns, level.predicted_prefill_ns), time(level.token_ns, level.predicted_token_ns);
    value(level.prefill_tokens_per_second), value(level.decode_tokens_per_second);
    table.field(level.cache_bytes.value_or(NAN)).field(level.predicted_cache_bytes.value_or(NAN));
    table.field(level.rss_bytes.value_or(NAN)).end();
  }
  return table.take();
}

}  // namespace

core::Result<std::string> render_csv(const ReportModel& model, std::string_view table) {
  if (table == "iterations") return iterations(model);
  if (table == "parts") return shares(model.parts);
  if (table == "operators") return shares(model.operators);
  if (table == "nodes") return shares(model.nodes);
  if (table == "kernels") return shares(model.kernels);
  if (table == "metrics") return metrics(model);
  if (table == "telemetry") return telemetry(model);
  if (table == "roofline") return roofline(model);
  if (table == "scaling") return scaling(model);
  if (table == "decoder") return decoder(model);
  if (table == "work_rates") return work_rates(model);
  if (table == "collectives") return collectives(model);
  if (table == "collective_ranks") return collective_ranks(model);
  if (table == "collective_waits") return collective_waits(model);
  const std::vector<std::string_view> known(kCsvTables.begin(), kCsvTables.end());
  const std::string_view near = core::nearest(table, known);
  return core::fail(core::ErrorCode::invalid_argument,
                    "the report has no table '" + std::string(table) + "'" +
                        (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?"),
                    "one of: " + core::join(known, ", "));
}

}  // namespace aaco::report
