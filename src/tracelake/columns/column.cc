#include "tracelake/columns.h"

namespace aaco::tracelake {

std::size_t width_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::int8:
    case ColumnKind::uint8:
    case ColumnKind::boolean: return 1;
    case ColumnKind::int16:
    case ColumnKind::uint16: return 2;
    case ColumnKind::int32:
    case ColumnKind::uint32:
    case ColumnKind::float32:
    case ColumnKind::date: return 4;
    case ColumnKind::int64:
    case ColumnKind::uint64:
    case ColumnKind::float64:
    case ColumnKind::timestamp: return 8;
    case ColumnKind::text: return 0;
  }
  return 0;
}

std::string_view Column::text(std::size_t row) const {
  const auto from = static_cast<std::size_t>(offsets[row]), to = static_cast<std::size_t>(offsets[row + 1]);
  return {reinterpret_cast<const char*>(values.data()) + from, to - from};
}

}  // namespace aaco::tracelake
