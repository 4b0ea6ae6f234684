#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace aaco::cli {

// The message for an invalid command line, in the form of every other error, with a hint. Misspelt subcommands and options get
// the nearest name as a suggestion.
std::string usage_error(const CLI::App* app, const CLI::Error& problem);

}  // namespace aaco::cli
