#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "report/model.h"

namespace aaco::workflows {

inline constexpr std::size_t kPhases = 4;

// Of the finite values from index `begin` to before `end`; 0: there are none.
double mean_between(const report::Series& series, std::size_t begin, std::size_t end);

// Of kPhases + 1 samples or more. A cumulative counter as its growth per second in each quarter, "0.4, 3.8, 3.9, 1": with
// children that no sample saw.
std::string quarters_of(const report::Series& counter);

// Of kPhases samples or more. The mean of each quarter: "0.4, 3.8, 3.9, 1".
std::string phases_of(const report::Series& cores);

// The process whose CPU time grew most, and its share; empty with one process.
std::optional<std::pair<std::string, double>> busiest_process(const report::ReportModel& model);

}  // namespace aaco::workflows
