#pragma once

#include "workflows/side_by_side.h"

namespace aaco::cli {

struct Context;

// At most `rows` rows of each table; at most the terminal's width.
void print_side_by_side(const Context& context, const workflows::SideBySide& sides, std::size_t rows);

}  // namespace aaco::cli
