#pragma once

#include <set>
#include <string>
#include <string_view>

namespace aaco::importers::grouping {

// The names of the kernels in the first whole lines of a table with a column Kernel_Name; empty where it has none.
std::set<std::string> first_kernel_names(std::string_view head);

// Whether a run with hardware counters ran the program that another traced: at least half of its first kernels are among the
// other's.
bool is_same_program(const std::set<std::string>& counted, const std::set<std::string>& traced);

}  // namespace aaco::importers::grouping
