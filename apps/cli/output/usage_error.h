#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace aaco::cli {

// What is said of a command line that cannot be read: in the form of every other error, with the help that would tell more.
// A verb that does not exist is named, beside the one it may have been meant as.
std::string usage_error(const CLI::App* app, const CLI::Error& problem);

}  // namespace aaco::cli
