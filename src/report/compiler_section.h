#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace aaco::report {

class MarkdownPage;
class TextPage;
struct ReportModel;

// What a compiler made of a model's graph, of `aaco compiler` (docs/formats/compiler.md).
struct Compiler {
  struct Level {
    std::string level;
    std::int64_t kernels = 0, kept = 0, rewritten = 0, fused = 0, folded = 0, removed = 0, inserted = 0;
  };
  // Nodes and the kernel that computes them, of the first repetition.
  struct Row {
    std::string fate;                // kept, rewritten, fused, folded, removed, inserted
    std::string before;              // operators: "Conv+Relu"; "12 Shape, 3 Gather" of several without a kernel; empty: inserted
    std::string after;               // operator of the kernel; empty: none is left
    std::string node;                // the first one
    std::string detail;              // what was put in (cast, layout, copy ...), or the change of type
    std::optional<double> time_ns;   // of all repetitions in one call
    std::vector<std::int64_t> from;  // places of earlier rows that it reads, counted through all blocks
  };
  struct Block {
    std::int64_t repeats = 1;
    std::vector<Row> rows;
  };
  // Pairs of nodes that a fusion pattern nearly fits, for one reason.
  struct Missed {
    std::string reason, pattern, first, second, condition, remedy;  // nodes and condition of the first pair
    std::int64_t count = 0;
    std::optional<double> both_ns;  // what the kernels of all pairs take
  };
  // Fused kernels that only one side has, by operators.
  struct Difference {
    std::string side, after, before;
    std::int64_t count = 0;
    std::optional<double> time_ns, change_ns;  // change: against the same nodes on the other side
  };
  struct Refused {
    std::string reason, op_type, node, condition;  // of the first node
    std::int64_t count = 0;
  };
  struct Seam {
    std::string first, second, from, to;  // nodes, then targets
    std::optional<double> bytes;          // empty: a shape is open
    std::optional<double> least_ns;       // at the rate of the link
    std::optional<double> time_ns;        // measured, beyond the usual time between two nodes
  };
  struct Part {
    std::string target, first, last;
    std::int64_t nodes = 0;
  };
  std::string runtime, level, against, link;  // "ONNX Runtime 1.30.0, CPUExecutionProvider"; the other side; "PCIe 5.0 x16"
  std::int64_t nodes = 0;
  std::optional<double> call_ns, call_there_ns;  // with the profiler on
  std::vector<Level> levels;
  std::vector<Block> blocks;
  std::vector<Missed> missed;           // the most pairs first
  std::vector<Difference> differences;  // where both sides fuse the same, empty
  std::vector<Part> parts;
  std::vector<Refused> refused;
  std::vector<Seam> seams;  // the most bytes first; of a backend that ran here: the most time first
  std::optional<double> seams_least_ns;
  std::optional<double> seams_ns, usual_ns;  // measured: their sum per call, and the usual time between two nodes
};

core::Json to_json(const Compiler& section);
void write_text(TextPage& page, const Compiler& section, const ReportModel& model);
void write_markdown(MarkdownPage& page, const Compiler& section);

// "74 nodes become 40 kernels at level all".
std::string compiled_sentence(const Compiler& section);

}  // namespace aaco::report
