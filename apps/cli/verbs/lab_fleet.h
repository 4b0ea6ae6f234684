#pragma once

#include <CLI/CLI.hpp>

#include "cli/context.h"

namespace aaco::cli {

void add_lab_fleet(CLI::App& lab, Context& context);

}  // namespace aaco::cli
