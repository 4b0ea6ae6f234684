#pragma once

#include <string>
#include <vector>

#include "report/model.h"

namespace aaco::report {

// Entries of one name together, largest first: a kernel may stand under several nodes.
std::vector<TimeShare> merged_by_name(const std::vector<TimeShare>& list);

// The names of a list for columns of `width`: those that are wider in their short form, where no other name gets the same.
std::vector<std::string> names_for(const std::vector<std::string>& names, int width);

}  // namespace aaco::report
