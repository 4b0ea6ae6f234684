#include "graph/symbol.h"

#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "graph/shapes.h"

namespace aaco::graph {
namespace {

bool is_name_start(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }
// Exporters write names such as "input.1#0" and "batch-size" too; the latter reads as a difference only around spaces or digits.
bool is_name_part(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.' || letter == '#' ||
         letter == ':';
}

// Recursive descent over sums, products, calls (Max, Min, floor, ceiling, Mod, FloorDiv, ...) as SymPy prints them.
class Formula {
 public:
  explicit Formula(std::string_view text) : text_(text) {}

  // Calls `size_of` for each name. False where the text is no formula.
  template <class SizeOf>
  bool run(const SizeOf& size_of, double& out) {
    out = sum(size_of, 0);
    skip();
    return ok_ && at_ == text_.size();
  }

 private:
  static constexpr int kMaxDepth = 64;

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }

  template <class SizeOf>
  double sum(const SizeOf& size_of, int depth) {
    double value = product(size_of, depth);
    while (ok_) {
      if (take("+"))
        value += product(size_of, depth);
      else if (take("-"))
        value -= product(size_of, depth);
      else
        break;
    }
    return value;
  }

  template <class SizeOf>
  double product(const SizeOf& size_of, int depth) {
    double value = power(size_of, depth);
    while (ok_) {
      if (take("//"))
        value = std::floor(divide(value, power(size_of, depth)));
      else if (take("*"))
        value *= power(size_of, depth);
      else if (take("/"))
        value = divide(value, power(size_of, depth));
      else if (take("%"))
        value = modulo(value, power(size_of, depth));
      else
        break;
    }
    return value;
  }

  template <class SizeOf>
  double power(const SizeOf& size_of, int depth) {
    const double base = atom(size_of, depth);
    return ok_ && take("**") ? std::pow(base, atom(size_of, depth)) : base;
  }

  static double divide(double a, double b) { return b == 0 ? NAN : a / b; }
  static double modulo(double a, double b) { return b == 0 ? NAN : a - std::floor(a / b) * b; }

  template <class SizeOf>
  double atom(const SizeOf& size_of, int depth) {
    if (depth > kMaxDepth) ok_ = false;
    if (!ok_) return NAN;
    if (take("-")) return -atom(size_of, depth + 1);
    if (take("(")) {
      const double value = sum(size_of, depth + 1);
      ok_ = ok_ && take(")");
      return value;
    }
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return fail();
    if (const auto number = core::parse_f64(word)) return *number;
    if (!is_name_start(word[0])) return fail();
    return take("(") ? call(word, size_of, depth) : size_of(word);
  }

  template <class SizeOf>
  double call(std::string_view name, const SizeOf& size_of, int depth) {
    std::vector<double> values;
    do values.push_back(sum(size_of, depth + 1));
    while (ok_ && take(","));
    if (!ok_ || !take(")")) return fail();
    const double first = values[0], second = values.size() > 1 ? values[1] : NAN;
    if (name == "Max") return *std::max_element(values.begin(), values.end());
    if (name == "Min") return *std::min_element(values.begin(), values.end());
    if (name == "floor" || name == "FloorToInt") return std::floor(first);
    if (name == "ceiling" || name == "CeilToInt") return std::ceil(first);
    if (name == "IntTrueDiv" || name == "FloatTrueDiv") return divide(first, second);
    if (name == "FloorDiv" || name == "CleanDiv") return std::floor(divide(first, second));
    if (name == "CeilDiv") return std::ceil(divide(first, second));
    if (name == "Mod" || name == "PythonMod") return modulo(first, second);
    if (name == "Integer" || name == "ToFloat" || name == "TruncToInt" || name == "Identity") return std::trunc(first);
    if (name == "Pow" || name == "PowByNatural") return std::pow(first, second);
    if (name == "Mul" || name == "Add") {
      double value = first;
      for (std::size_t at = 1; at < values.size(); ++at) value = name == "Mul" ? value * values[at] : value + values[at];
      return value;
    }
    return fail();
  }

  double fail() {
    ok_ = false;
    return NAN;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

std::vector<std::string> symbol_names(std::string_view text) {
  std::vector<std::string> names;
  double ignored = 0;
  const bool formula = Formula(text).run(
      [&](std::string_view name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
        return 1.0;
      },
      ignored);
  if (!formula) names = {std::string(text)};
  return names;
}

std::optional<std::int64_t> evaluate_symbol(std::string_view symbol, const Bindings& sizes) {
  if (const auto found = sizes.find(std::string(symbol)); found != sizes.end()) return found->second;
  if (symbol == "total_sequence_length") return evaluate_symbol("past_sequence_length + sequence_length", sizes);
  double value = NAN;
  const bool formula = Formula(symbol).run(
      [&](std::string_view name) {
        const auto found = sizes.find(std::string(name));
        return found == sizes.end() ? NAN : static_cast<double>(found->second);
      },
      value);
  constexpr double kLargest = 9e15;  // exact in a double
  if (!formula || std::isnan(value) || std::abs(value) > kLargest || value != std::floor(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace aaco::graph
