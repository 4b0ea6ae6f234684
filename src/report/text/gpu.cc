#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/numbers.h"
#include "report/quantity.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

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

template <class T>
std::vector<Bar> bars_of(const std::vector<T>& list, std::string T::*name, std::int64_t T::*value, std::int64_t T::*count) {
  std::vector<Bar> bars;
  for (const T& one : list) bars.push_back({one.*name, static_cast<double>(one.*value), one.*count});
  return bars;
}

std::string share_of(std::int64_t part, std::int64_t whole) {
  return core::format_percent(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0);
}

void write_device(TextPage& page, const GpuSection::Device& device) {
  std::string text = page.clean(device.name) + ":";
  bool first = true;
  const auto add = [&](std::string_view words) {
    text += (first ? " " : "; ") + std::string(words);
    first = false;
  };
  if (device.active_ratio) add("kernels running " + core::format_percent(*device.active_ratio) + " of the span");
  const std::string bound = device.bound.value_or("");
  if (bound == "waiting")
    add("host-bound (GPU starved)");
  else if (bound == "compute")
    add("mostly busy");
  else if (bound == "held")
    add("launched work held back on the device");
  else if (bound == "warmup")
    add("limited by warm-up inside the trace");
  else if (!bound.empty() && bound != "none")
    add(bound + "-bound");
  if (device.launch_tax)
    add("launch tax " + format_quantity(*device.launch_tax, "") +
        (device.launch_tax_band.empty() ? "" : " (" + device.launch_tax_band + ")"));
  if (device.queue_depth) add("queue depth " + format_quantity(*device.queue_depth, ""));
  if (device.api_mean_ns)
    add("mean of a kernel: " + page.quantity(*device.api_mean_ns, "ns") + " in the call that launched it, " +
        page.quantity(device.queue_mean_ns.value_or(0), "ns") + " queued, " +
        page.quantity(device.execution_mean_ns.value_or(0), "ns") + " running");
  page.paragraph(text, 2);
}

void write_convention(TextPage& page, const GpuSection::Convention& convention) {
  page.paragraph("Kernels without a launch record are " + page.clean(convention.orphan_kernels) + ", memsets are " +
                     page.clean(convention.memset) + "; span: " + page.clean(convention.span) + ".",
                 2, Style::dim);
}

// What the launching threads did while their device was idle, where their scheduling was recorded.
void write_hosts(TextPage& page, const Gaps::Host& host) {
  const auto time_of = [](std::int64_t ns) { return core::format_duration(static_cast<double>(ns)); };
  page.paragraph("During these gaps the launching threads were runnable but not running for " + time_of(host.run_queue_ns) +
                     " and sleeping for " + time_of(host.off_cpu_ns) + " (" + std::to_string(host.gap_count) +
                     " gaps with scheduler data).",
                 2, Style::dim);
}

// One heading for what is told of the GPUs, above the first of its sections.
void open_gpus(TextPage& page, const ReportModel& model) {
  std::string aside;
  if (const auto& known = model.sections.attribution; known && known->kernel_count > 0)
    aside = "attributed: " + share_of(known->attributed_kernel_count, known->kernel_count) + " of kernels, " +
            share_of(known->attributed_kernel_sum_ns, known->kernel_sum_ns) + " of their time";
  page.heading("GPUs", aside);
}

}  // namespace

void write_text(TextPage& page, const ProfilerTotals& section, const ReportModel&) {
  if (section.calls.empty() && !section.samples) return;
  using Totals = ProfilerTotals;
  page.heading("Profiler totals");
  write_bars(page, "Calls by total time",
             bars_of(section.calls, &Totals::Entry::name, &Totals::Entry::sum_ns, &Totals::Entry::count));
  if (!section.samples) return;
  write_bars(page, "Program counter samples by kernel",
             bars_of(section.samples->kernels, &Totals::Kernel::name, &Totals::Kernel::samples, &Totals::Kernel::samples),
             Unit::count);
  write_bars(page, "Program counter samples by instruction",
             bars_of(section.samples->instructions, &Totals::Instruction::instruction, &Totals::Instruction::samples,
                     &Totals::Instruction::samples),
             Unit::count);
}

void write_text(TextPage& page, const GpuSection& section, const ReportModel& model) {
  open_gpus(page, model);
  for (const GpuSection::Device& device : section.devices) write_device(page, device);
  if (section.convention) write_convention(page, *section.convention);
  using Family = GpuSection::Family;
  write_bars(page, "Kernel families", bars_of(section.families, &Family::family, &Family::kernel_sum_ns, &Family::kernel_count));
}

void write_text(TextPage& page, const Attribution& section, const ReportModel& model) {
  if (!model.sections.gpu) open_gpus(page, model);
  using Method = Attribution::Method;
  using Operator = Attribution::Operator;
  write_bars(page, "Kernel time by operator",
             bars_of(section.operators, &Operator::name, &Operator::kernel_sum_ns, &Operator::kernel_count));
  write_bars(page, "Attribution method",
             bars_of(section.methods, &Method::method, &Method::kernel_sum_ns, &Method::kernel_count));
}

void write_text(TextPage& page, const Gaps& section, const ReportModel& model) {
  if (!model.sections.gpu && !model.sections.attribution) {
    if (section.causes.empty()) return;
    open_gpus(page, model);
  }
  using Cause = Gaps::Cause;
  std::vector<Bar> bars = bars_of(section.causes, &Cause::cause, &Cause::idle_ns, &Cause::gap_count);
  for (Bar& one : bars) one.name = cause_words(one.name);
  write_bars(page, "Idle time by cause", std::move(bars));
  using HostCause = Gaps::HostCause;
  std::string heading = "Host activity while the GPU was idle";
  if (section.explained_ratio) heading += " (" + core::format_percent(*section.explained_ratio) + " explained)";
  write_bars(page, heading, bars_of(section.host_causes, &HostCause::title, &HostCause::idle_ns, &HostCause::gap_count));
  if (section.host) write_hosts(page, *section.host);
}

}  // namespace aaco::report
