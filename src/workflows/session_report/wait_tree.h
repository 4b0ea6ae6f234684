#pragma once

#include <optional>
#include <string_view>

#include "report/operating_system_section.h"

namespace aaco::workflows {

// Folded stacks (a line per stack: THREAD;FRAME;FRAME NANOSECONDS) as a tree, without what is too small to be drawn. Lines that
// are none are left out; empty where none is left.
std::optional<report::OperatingSystem::Frame> wait_tree(std::string_view folded);

}  // namespace aaco::workflows
