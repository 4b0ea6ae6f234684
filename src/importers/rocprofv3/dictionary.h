#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/json.h"
#include "importers/stream/text_ids.h"

namespace aaco::importers::rocprofv3 {

// What the records of rocprofv3's JSON refer to by number: agents, kernel symbols, counters, names of kinds and operations, texts
// of markers. Texts are kept as they stand in the document; most symbols are never launched and never become names. What goes
// beyond kMaxBytes in all is not kept, and counted.
class Dictionary {
 public:
  // An element of the document's list of that name. Elements without their number take their place in the list.
  void add_agent(std::string_view text);
  void add_symbol(std::string_view text);
  void add_counter(std::string_view text);
  void add_kind(std::string_view text);    // {"kind": "HIP_RUNTIME_API", "operations": [...]}
  void add_marker(std::string_view text);  // {"key": 5, "value": "step"}
  void add_instruction(std::string_view text);
  void add_comment(std::string_view text);

  struct Agent {
    std::int64_t device = 0;
    bool is_gpu = false;
  };
  // Null where the document has no such agent.
  [[nodiscard]] const Agent* agent(std::uint64_t handle) const;
  // As they stand in the document, without their quotes; empty: unknown.
  [[nodiscard]] std::string_view symbol(std::uint64_t kernel_id) const;
  [[nodiscard]] std::string_view counter(std::uint64_t handle) const;
  // The counter that a value is of: early files name its instance, whose counter stands in the upper 16 bits.
  [[nodiscard]] std::uint64_t counter_of(std::uint64_t instance) const;
  [[nodiscard]] std::string_view operation(std::uint64_t kind, std::uint64_t operation) const;
  [[nodiscard]] std::string_view marker(std::uint64_t correlation_id) const;
  [[nodiscard]] std::string_view instruction(std::int64_t index) const;
  [[nodiscard]] std::string_view comment(std::int64_t index) const;
  struct Registers {
    std::optional<std::int64_t> vector, scalar;
  };
  [[nodiscard]] Registers registers(std::uint64_t kernel_id) const;

  // The GPUs, as the facts have them.
  [[nodiscard]] core::Json devices() const { return devices_; }
  [[nodiscard]] std::int64_t left_out() const { return left_out_; }
  [[nodiscard]] bool has_agents() const { return !agents_.empty(); }
  [[nodiscard]] bool has_symbols() const { return !symbols_.empty(); }
  [[nodiscard]] bool has_kinds() const { return !kinds_.empty(); }

  static constexpr std::size_t kMaxBytes = std::size_t{128} << 20;

 private:
  struct Symbol {
    std::string name;
    Registers registers;
  };
  // False where the text would go beyond what is kept.
  bool room(std::size_t bytes);

  std::unordered_map<std::uint64_t, Agent> agents_;
  core::Json devices_ = core::Json::array();
  std::unordered_map<std::uint64_t, Symbol> symbols_;
  std::unordered_map<std::uint64_t, std::string> counters_, markers_;
  std::vector<std::vector<std::string>> kinds_;
  std::vector<std::string> instructions_, comments_;
  std::uint64_t next_symbol_ = 0;
  std::size_t bytes_ = 0;
  std::int64_t left_out_ = 0;
};

// The number of {"handle": 7} or 7.
std::optional<std::uint64_t> handle_of(std::string_view text);

}  // namespace aaco::importers::rocprofv3
