#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace aaco::cli {

// What the option parser found wrong, in plain words: "missing argument 'sql'", "invalid value 'x' for '--format': ...".
std::string parse_problem(const CLI::Error& problem);

}  // namespace aaco::cli
