#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/model.h"
#include "trace/metric.h"

namespace aaco::report {

// "1/s" of what: ("throughput.items_per_second", "1/s") is "items/s"; other units stay.
std::string unit_of_metric(std::string_view id, std::string_view unit);

// How values of about one magnitude are written: divided by `factor`, with `unit` behind them.
struct UnitScale {
  double factor = 1;
  std::string unit;
};
// ("ns", 22e6) is {1e6, "ms"}; a very long unknown unit is cut.
UnitScale scale_for(double magnitude, std::string_view unit);

// A value with its published unit, for people: ("ns", 22400000) is "22.4 ms", ("ratio", 0.713) is "71.3 %".
// An unknown unit is put behind a number of about three digits. Not finite is said in words.
std::string format_quantity(double value, std::string_view unit);
// Both ends in one unit, with as many digits as their distance needs: "22.57 - 22.65 ms".
std::string format_interval(const trace::Interval& interval, std::string_view unit);
// An estimate as a percentage without digits that would say nothing: "86 %", "3.0 %"; "> 99 %" of what rounds to certainty and is
// not certain.
std::string format_estimate(double ratio);
// "12 % of the device span (0 to 15 %)": an expected gain, what it is of, and its interval.
std::string gain_text(double ratio, std::string_view of, const std::optional<trace::Interval>& interval);
// " +/- 0.18 %": the half width of the 95 % interval relative to the value, which is what +/- means everywhere; empty without an
// interval, of 0, and where it is above the value.
std::string half_width_text(const trace::MetricValue& metric);
// "1.50 us" anywhere in a text as "1.50 \u00B5s"; so are uJ and uW.
std::string with_micro_signs(std::string text);
// The same text where Unicode may be used: micro sign, degree sign, plus-minus sign, en dash between the ends of an interval,
// true minus.
std::string typographic(std::string text);
// A number with `decimals` digits after the point and its thousands grouped: "1,234.5".
std::string group_digits(double value, int decimals);

// The name of a metric for people: from its definition, else made from the id ("latency.p50_ns" is "Latency P50").
std::string metric_title(const ReportModel& model, std::string_view id);
// What ran, short: model.title, else made from session.outcome, else the session's kind and id.
std::string report_title(const ReportModel& model);
// What one point of the latency is called: "request", "generation" or "iteration".
std::string_view call_of(const ReportModel& model);

}  // namespace aaco::report
