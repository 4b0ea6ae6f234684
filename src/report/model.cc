#include "report/model.h"

namespace aaco::report {

std::string_view to_string(Roof::Basis basis) {
  return basis == Roof::Basis::stated ? "stated" : basis == Roof::Basis::measured ? "measured" : "reached";
}

}  // namespace aaco::report
