#pragma once

#include <duckdb.h>

#include <cstdint>
#include <optional>

#include "trace/names.h"

// How each kind of row member lies in a column of a Parquet file.
namespace aaco::tracelake::store {

template <class Value>
struct Cell;
template <>
struct Cell<std::int32_t> {
  static constexpr duckdb_type kType = DUCKDB_TYPE_INTEGER;
  static constexpr std::string_view kSql = "INTEGER";
};
template <>
struct Cell<std::int64_t> {
  static constexpr duckdb_type kType = DUCKDB_TYPE_BIGINT;
  static constexpr std::string_view kSql = "BIGINT";
};
template <>
struct Cell<std::uint64_t> {
  static constexpr duckdb_type kType = DUCKDB_TYPE_UBIGINT;
  static constexpr std::string_view kSql = "UBIGINT";
};
template <>
struct Cell<double> {
  static constexpr duckdb_type kType = DUCKDB_TYPE_DOUBLE;
  static constexpr std::string_view kSql = "DOUBLE";
};
template <>
struct Cell<trace::NameId> {
  static constexpr duckdb_type kType = DUCKDB_TYPE_VARCHAR;
  static constexpr std::string_view kSql = "VARCHAR";
};
template <class Value>
struct Cell<std::optional<Value>> : Cell<Value> {};

template <class Value>
inline constexpr bool kIsName = false;
template <>
inline constexpr bool kIsName<trace::NameId> = true;
template <class Value>
inline constexpr bool kIsOptional = false;
template <class Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;

}  // namespace aaco::tracelake::store
