#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace aaco::report {

class TextPage;
struct ReportModel;

// FLOP/s and bytes/s of kernels and operators of a trace, each with the source of its work.
struct WorkRates {
  struct Rate {
    std::int64_t rank = 0, device = 0;
    std::string name;
    std::string short_name;         // empty: none
    std::string family, data_type;  // empty: unknown
    std::string source;             // "shapes", or the counters
    std::int64_t count = 0, time_ns = 0;
    std::optional<double> flops, bytes, flops_per_s, bytes_per_s;
    std::optional<double> peak_flops_per_s, peak_bytes_per_s, flops_ratio, bytes_ratio;
  };
  std::string hardware;                               // id of the hardware registry; empty: unknown, or several
  std::vector<Rate> kernels, operators;               // longest time first
  std::int64_t kernel_count = 0, operator_count = 0;  // all, of which the lists have the first
};

core::Json to_json(const WorkRates& section);
void write_text(TextPage& page, const WorkRates& section, const ReportModel& model);

}  // namespace aaco::report
