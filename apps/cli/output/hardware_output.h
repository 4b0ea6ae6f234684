#pragma once

#include <vector>

#include "workflows/hardware.h"

namespace aaco::cli {

struct Context;

void print_devices(const Context& context, const std::vector<workflows::DeviceLine>& lines);
// Every figure with its source, and what other sources say.
void print_device(const Context& context, const hardware::Device& device);

}  // namespace aaco::cli
