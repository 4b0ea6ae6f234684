#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

// How far the outputs of a changed model are from those of the original.
namespace aaco::analytics::agreement {

// What an accepted change must keep.
struct Tolerance {
  enum class Kind : std::uint8_t { error, top1 } kind = Kind::error;
  double value = 1e-3;  // error: largest error over the RMS of the reference output; top1: smallest share of equal top-1
};

struct Agreement {
  std::int64_t inputs = 0;  // compared
  std::int64_t elements = 0;
  double max_error = 0;              // absolute
  double mean_error = 0;             // absolute, over all elements
  double max_error_ratio = 0;        // error over the RMS of the reference output of the same input; the worst
  double cosine = 1;                 // of an output with its reference; the worst
  std::optional<double> top1_ratio;  // rows of the first output with the largest element in the same place; empty without classes
  std::int64_t not_finite = 0;       // elements that are NaN or infinite where the reference is finite
  std::string mismatch;              // outputs that differ in number or shape: nothing was compared
};

class AgreementAccount {
 public:
  // One output of one input; `row` is its last dimension, `first` whether it is the model's first output.
  void add(std::span<const double> reference, std::span<const double> candidate, std::int64_t row, bool first);
  void end_input() { ++sum_.inputs; }
  void mismatch(std::string why) { sum_.mismatch = std::move(why); }
  [[nodiscard]] Agreement result() const;

 private:
  void add_top1(std::span<const double> reference, std::span<const double> candidate, std::size_t row);
  Agreement sum_;
  double error_sum_ = 0;
  std::int64_t rows_ = 0, equal_rows_ = 0;
};

// Empty if the change is within the tolerance; otherwise why it is not, in one sentence.
std::string violation(const Agreement& agreement, const Tolerance& tolerance);

}  // namespace aaco::analytics::agreement
