#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "estimation/kernel.h"

// Tables of measurements of real devices (AACO_REAL_DATA, or the shared folder beside the source tree).
namespace aaco::estimation {

using Row = std::map<std::string, std::string>;  // column -> text

// Of a table below the folder "estimation"; the file may be missing.
std::string data_file(const std::string& name);
// Every `step`-th record.
std::vector<Row> rows_of(const std::string& path, std::size_t step);
std::int64_t integer(const Row& row, const char* name);
Kernel gemm_of(const Row& row);
Kernel convolution_of(const Row& row);

}  // namespace aaco::estimation
