#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/numbers.h"
#include "report/quantity.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

using core::Json;

constexpr std::size_t kBarRows = 8;

struct Bar {
  std::string name;
  double value_ns = 0;
  std::int64_t count = 0;
};

enum class Unit { time, count };

// name, bar, share, time (none where counts are what is shown), count: largest first.
void write_bars(TextPage& page, std::string_view title, std::vector<Bar> bars, Unit unit = Unit::time) {
  double whole = 0;
  for (const Bar& one : bars) whole += one.value_ns;
  if (bars.empty() || whole <= 0) return;
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.value_ns > b.value_ns; });
  page.line();
  page.line("  " + page.styled(fit(page.clean(title), page.width() - 2, page.ascii()), Style::dim));
  const int bar_room = page.width() >= 72 ? page.width() / 4 : 0;
  const int count_room = page.width() >= 60 ? 11 : 0;
  const int name_room = std::max(8, page.width() - 4 - 8 - 10 - (bar_room > 0 ? bar_room + 1 : 0) - count_room);
  for (std::size_t i = 0; i < std::min(kBarRows, bars.size()); ++i) {
    const Bar& one = bars[i];
    std::string row = "    " + fit_left(page.clean(one.name), name_room, page.ascii());
    if (bar_room > 0)
      row += " " + page.styled(fit_left(bar(one.value_ns / bars[0].value_ns, bar_room, page.ascii()), bar_room, page.ascii()),
                               Style::accent);
    row += fit_right(format_quantity(one.value_ns / whole, "ratio"), 8, page.ascii()) +
           (unit == Unit::time ? fit_right(page.quantity(one.value_ns, "ns"), 10, page.ascii()) : std::string(10, ' '));
    if (count_room > 0)
      row += page.styled(fit_right(core::format_count(static_cast<double>(one.count)) + (page.ascii() ? " x" : " \u00D7"),
                                   count_room, page.ascii()),
                         Style::dim);
    page.line(row);
  }
}

std::vector<Bar> bars_of(const Json& list, const char* name, const char* value, const char* count) {
  std::vector<Bar> bars;
  for (const Json& item : list.items())
    bars.push_back({std::string(item[name].text()), item[value].as_f64().value_or(0), item[count].as_i64().value_or(0)});
  return bars;
}

std::string share_of(const Json& whole, const char* part_key, const char* whole_key) {
  const double part = whole[part_key].as_f64().value_or(0), all = whole[whole_key].as_f64().value_or(0);
  return core::format_percent(all > 0 ? part / all : 0);
}

void write_device(TextPage& page, const Json& device) {
  std::string text = page.clean(device["name"].text()) + ":";
  bool first = true;
  const auto add = [&](std::string_view words) {
    text += (first ? " " : "; ") + std::string(words);
    first = false;
  };
  if (const auto active = device["active_ratio"].as_f64()) add("kernels run " + core::format_percent(*active) + " of the time");
  const std::string bound(device["bound"].text());
  if (bound == "waiting")
    add("it waits for the host");
  else if (!bound.empty() && bound != "none")
    add("bound by " + bound);
  if (const auto tax = device["launch_tax"].as_f64())
    add("launch tax " + format_quantity(*tax, "") +
        (device.contains("launch_tax_band") ? " (" + std::string(device["launch_tax_band"].text()) + ")" : ""));
  if (const auto depth = device["queue_depth"].as_f64()) add("queue " + format_quantity(*depth, "") + " deep");
  if (const auto api = device["api_mean_ns"].as_f64())
    add("a launch: " + page.quantity(*api, "ns") + " in the call, " +
        page.quantity(device["queue_mean_ns"].as_f64().value_or(0), "ns") + " in the queue, " +
        page.quantity(device["execution_mean_ns"].as_f64().value_or(0), "ns") + " running");
  page.paragraph(text, 2);
}

std::vector<Bar> sample_bars(const Json& list, const char* name) {
  std::vector<Bar> bars;
  for (const Json& item : list.items())
    bars.push_back({std::string(item[name].text()), item["samples"].as_f64().value_or(0), item["samples"].as_i64().value_or(0)});
  return bars;
}

void write_convention(TextPage& page, const Json& convention) {
  if (convention.is_null()) return;
  page.paragraph("Kernels without a launch in the trace are " + page.clean(convention["orphan_kernels"].text()) + ", memsets " +
                     page.clean(convention["memset"].text()) + "; the span is " + page.clean(convention["span"].text()) + ".",
                 2, Style::dim);
}

// What the launching threads did while their device was idle, where their scheduling was recorded.
void write_hosts(TextPage& page, const Json& host) {
  if (host.is_null()) return;
  const auto time_of = [](const Json& json, std::string_view key) {
    return core::format_duration(json[key].as_f64().value_or(0));
  };
  page.paragraph("While they were late, the threads that launch had no CPU for " + time_of(host, "run_queue_ns") +
                     " though ready and slept for " + time_of(host, "off_cpu_ns") + " (" +
                     std::to_string(host["gap_count"].as_i64().value_or(0)) + " gaps whose scheduling was recorded).",
                 2, Style::dim);
}

}  // namespace

void write_totals(TextPage& page, const ReportModel& model) {
  const Json& totals = model.extra["totals"];
  if (totals["calls"].items().empty() && totals["samples"].is_null()) return;
  page.heading("Totals that the profiler wrote");
  write_bars(page, "Calls by total time", bars_of(totals["calls"], "name", "sum_ns", "count"));
  const Json& samples = totals["samples"];
  write_bars(page, "Sampled program counters by kernel", sample_bars(samples["kernels"], "name"), Unit::count);
  write_bars(page, "Sampled program counters by instruction", sample_bars(samples["instructions"], "instruction"), Unit::count);
}

void write_gpu(TextPage& page, const ReportModel& model) {
  write_totals(page, model);
  const Json& gpu = model.extra["gpu"];
  const Json& attribution = model.extra["attribution"];
  const Json& gaps = model.extra["gaps"];
  if (gpu.is_null() && attribution.is_null() && gaps["causes"].items().empty()) return;
  std::string aside;
  if (attribution["kernel_count"].as_i64().value_or(0) > 0)
    aside = "attributed: " + share_of(attribution, "attributed_kernel_count", "kernel_count") + " of kernels, " +
            share_of(attribution, "attributed_kernel_sum_ns", "kernel_sum_ns") + " of their time";
  page.heading("The GPUs", aside);
  for (const Json& device : gpu["devices"].items()) write_device(page, device);
  write_convention(page, gpu["convention"]);
  write_bars(page, "Kernel families", bars_of(gpu["families"], "family", "kernel_sum_ns", "kernel_count"));
  write_bars(page, "What caused the kernels", bars_of(attribution["operators"], "operator", "kernel_sum_ns", "kernel_count"));
  write_bars(page, "How that is known", bars_of(attribution["methods"], "method", "kernel_sum_ns", "kernel_count"));
  write_bars(page, "Idle gaps by cause", bars_of(gaps["causes"], "cause", "idle_ns", "gap_count"));
  write_hosts(page, gaps["host"]);
}

}  // namespace aaco::report
