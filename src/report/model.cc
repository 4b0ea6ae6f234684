#include "report/model.h"

#include <array>

namespace aaco::report {

std::string_view to_string(Roof::Basis basis) {
  return basis == Roof::Basis::stated ? "stated" : basis == Roof::Basis::measured ? "measured" : "reached";
}

std::string_view to_string(TimeWhole whole) {
  constexpr std::array<std::string_view, 5> kNames = {"iteration", "trace", "kernels", "threads", "active"};
  return kNames[static_cast<std::size_t>(whole)];
}

}  // namespace aaco::report
