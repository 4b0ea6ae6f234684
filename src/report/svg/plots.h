#pragma once

#include <optional>
#include <string>

#include "report/model.h"

// The plots of render_svg(), one function each; empty where the model has no data for it.
namespace aaco::report {

std::optional<std::string> plot_latency(const ReportModel& model);       // every iteration over time
std::optional<std::string> plot_distribution(const ReportModel& model);  // histogram with quantiles and their intervals
std::optional<std::string> plot_operators(const ReportModel& model);     // time by operator type
std::optional<std::string> plot_timeline(const ReportModel& model);
std::optional<std::string> plot_telemetry(const ReportModel& model);
std::optional<std::string> plot_flame(const ReportModel& model);  // part -> operator type -> node -> kernel, widths by time
std::optional<std::string> plot_waits(const ReportModel& model);  // off-CPU flame graph
std::optional<std::string> plot_roofline(const ReportModel& model);

}  // namespace aaco::report
