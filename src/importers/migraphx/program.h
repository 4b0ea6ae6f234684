#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/json.h"
#include "importers/migraphx/instruction.h"
#include "trace/account.h"
#include "trace/sink.h"

namespace aaco::importers::migraphx {

// Collects a printed program line by line. A perf report prints it twice, the second time with durations; of several programs in
// one text (before and after a pass) the last counts.
class Program {
 public:
  explicit Program(trace::Account& account) : account_(account) {}
  void line(std::string_view line);
  // Adds the program's rows.
  void write(trace::Sink& sink) const;
  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] bool timed() const { return timed_ > 0; }
  // Stage, version, command, classes, kernels, modules and the totals of a perf report; `account` gets what does not add up.
  [[nodiscard]] core::Json facts() const;

  static constexpr std::size_t kMaxInstructions = 1'000'000;

 private:
  struct Node {
    std::string name, op, symbols, data_type, lengths, kernel;
    std::vector<std::size_t> inputs;
    std::optional<std::int64_t> duration_ns;
    std::optional<std::int64_t> elements;
  };
  void instruction(const Instruction& instruction);
  void begin_listing();
  void other(std::string_view line);
  [[nodiscard]] static std::string_view class_of(const Node& node);
  [[nodiscard]] static std::string op_type(const Node& node);

  trace::Account& account_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, std::size_t> index_;  // by name
  std::vector<std::string> modules_;
  std::map<std::string, std::string> report_;  // "Batch size" -> "1"
  std::string version_, command_, model_;
  std::int64_t lines_ = 0;  // kept, of the listing
  std::int64_t timed_ = 0;  // instructions with a duration
  std::int64_t unknown_inputs_ = 0;
  bool compiling_ = false;
};

}  // namespace aaco::importers::migraphx
