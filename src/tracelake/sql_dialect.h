#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace aaco::tracelake {

enum class SqlDialect : std::uint8_t { duckdb, clickhouse };

// SQL of the product for one engine. Macros stand for what the engines write differently:
//   $div(a, b)        whole division of integers
//   $quantile(q, x)   quantile with linear interpolation; NULLs do not count
//   $median(x)        $quantile(0.5, x)
//   $stddev(x)        standard deviation of a sample
//   $json(column, key)  text member of a JSON object; NULL where it has none
//   $join             inner join, with USING
//   $session          condition: the session asked for, or any
// Text in quotes stays. Fails with invalid_input on an unknown macro and on a wrong number of arguments.
core::Result<std::string> expand_sql(SqlDialect dialect, std::string_view sql, const std::string& session_id = {});

}  // namespace aaco::tracelake
