#pragma once

#include <vector>

#include "tracelake/lake.h"

// What the analysis of GPU time reads in place of columns that it does not need: large tables are decoded faster so.
namespace aaco::workflows {

// What a walk over the launches needs of an operator's arguments are its shapes; those of other calls may all differ.
inline constexpr tracelake::Instead kOperatorArguments = {"arguments", "CASE WHEN domain = 'cpu_op' THEN arguments END"};
inline constexpr tracelake::Instead kNoArguments = {"arguments", "NULL"};

// Of kernels, what tells whether they are of one run.
inline std::vector<tracelake::Instead> only_ids() {
  return {{"queue", "NULL"},      {"lds_bytes", "NULL"}, {"scratch_bytes", "NULL"}, {"vgpr_count", "NULL"},
          {"sgpr_count", "NULL"}, {"grid_x", "NULL"},    {"grid_y", "NULL"},        {"grid_z", "NULL"},
          {"block_x", "NULL"},    {"block_y", "NULL"},   {"block_z", "NULL"}};
}

// Columns of kernels that no analysis reads.
inline std::vector<tracelake::Instead> without_registers() {
  return {{"queue", "NULL"},         {"dispatch_id", "NULL"}, {"lds_bytes", "NULL"},
          {"scratch_bytes", "NULL"}, {"vgpr_count", "NULL"},  {"sgpr_count", "NULL"}};
}

}  // namespace aaco::workflows
