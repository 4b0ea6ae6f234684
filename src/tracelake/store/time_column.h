#pragma once

#include <cstdint>
#include <tuple>

#include "trace/tables.h"

namespace aaco::tracelake::store {

template <class Row>
inline constexpr std::size_t kColumnCount = std::tuple_size_v<decltype(trace::TableOf<Row>::columns())>;

// The position of the column the table is sorted by, or kColumnCount where it has none.
template <class Row>
constexpr std::size_t time_index() {
  std::size_t index = 0;
  std::size_t found = kColumnCount<Row>;
  std::apply([&](auto... column) { ((column.name == trace::TableOf<Row>::kTime ? found = index++ : index++), ...); },
             trace::TableOf<Row>::columns());
  return found;
}

template <class Row>
inline constexpr bool kHasTime = time_index<Row>() < kColumnCount<Row>;

template <class Row>
std::int64_t time_of(const Row& row) {
  return row.*std::get<time_index<Row>()>(trace::TableOf<Row>::columns()).member;
}

}  // namespace aaco::tracelake::store
