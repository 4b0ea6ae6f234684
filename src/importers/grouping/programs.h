#pragma once

#include <string>
#include <vector>

namespace aaco::importers::grouping {

// A session has one model: of several printed programs of MIGraphX the one that says most is taken (a performance report before a
// compiled program before one that was only read; of several alike the first). Its place in the list.
std::size_t choose_program(const std::vector<std::string>& paths);

}  // namespace aaco::importers::grouping
