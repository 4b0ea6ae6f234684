#include "core/csv_cell.h"

#include "core/strings.h"

namespace aaco::core {
namespace {

constexpr std::string_view kFormulaBegins = "=+-@\t\r";
constexpr std::string_view kOfNumbers = "0123456789.,eE+-% ";

bool is_formula(std::string_view text) {
  if (text.empty() || kFormulaBegins.find(text.front()) == std::string_view::npos) return false;
  const bool signed_number = (text.front() == '+' || text.front() == '-') && text.size() > 1 &&
                             (text[1] == '.' || (text[1] >= '0' && text[1] <= '9')) &&
                             text.find_first_not_of(kOfNumbers) == std::string_view::npos;
  return !signed_number;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  std::string cell = (is_formula(text) ? "'" : "") + std::string(text);
  const bool spaced = !cell.empty() && (cell.front() == ' ' || cell.back() == ' ');
  if (!spaced && cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  return '"' + replace_all(std::move(cell), "\"", "\"\"") + '"';
}

}  // namespace aaco::core
