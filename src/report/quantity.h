#pragma once

#include <string>
#include <string_view>

#include "report/model.h"
#include "trace/metric.h"

namespace aaco::report {

// A value with its published unit, for people: ("ns", 22400000) is "22.4 ms", ("ratio", 0.713) is "71.3 %".
// An unknown unit is put behind a number of about three digits.
std::string format_quantity(double value, std::string_view unit);
// Both ends, the unit once where it is the same: "22.3 - 22.5 ms".
std::string format_interval(const trace::Interval& interval, std::string_view unit);

// The name of a metric for people: from its definition, else made from the id ("latency.p50_ns" is "latency p50").
std::string metric_title(const ReportModel& model, std::string_view id);
// What ran, short: model.title, else made from session.outcome, else the session's kind and id.
std::string report_title(const ReportModel& model);

}  // namespace aaco::report
