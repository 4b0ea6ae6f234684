#pragma once

#include "core/json.h"
#include "trace/rows.h"

namespace aaco::workflows {

// What the kernel accounts to a block of calls, on its way from the measuring process. What it does not tell is left out.
core::Json account_json(const trace::LoopBlockRow& row);
void read_account(const core::Json& document, trace::LoopBlockRow& row);

}  // namespace aaco::workflows
