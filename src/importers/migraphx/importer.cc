#include "core/strings.h"
#include "importers/migraphx.h"
#include "importers/migraphx/program.h"
#include "importers/stream/lines.h"

namespace aaco::importers::migraphx {
namespace {

// Operators that only a printed program has, so that a line of another log is not taken for one.
bool is_typical(const Instruction& instruction) {
  return instruction.name.find('@') != std::string_view::npos || instruction.op.starts_with('@');
}

class MigraphxImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override {
    return {"migraphx", "MIGraphX program or performance report (text)", "migraphx", false, Grouping::program};
  }

  // Two instructions that are surely such, among the first lines.
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    constexpr int kWanted = 2;
    constexpr int kMaxLines = 2000;
    int found = 0;
    for (int line = 0; line < kMaxLines && !head.empty() && found < kWanted; ++line) {
      const auto end = head.find('\n');
      const std::string_view text = head.substr(0, end);
      if (text.find(" = ") != std::string_view::npos && text.size() < 65536)
        if (const auto instruction = parse_instruction(text); instruction && is_typical(*instruction)) ++found;
      head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    }
    return found >= kWanted;
  }

  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    ImportResult result;
    result.account.source = "migraphx";
    result.facts = core::Json::object();
    Program program(result.account);
    AACO_ASSIGN(const LinesEnd end, read_lines(source, [&](std::string_view line) { program.line(line); }));
    if (end.too_long > 0) result.account.drop("lines longer than 1 MiB", end.too_long);
    if (program.empty()) return core::fail(core::ErrorCode::invalid_input, source.name() + ": no line is a MIGraphX instruction");
    program.write(sink);
    core::Json facts = program.facts();
    if (program.timed()) check_report(source, facts, result);
    result.facts.set("migraphx", std::move(facts));
    AACO_TRY(sink.status());
    return result;
  }

 private:
  static void check_report(const trace::ByteSource& source, const core::Json& facts, ImportResult& result) {
    result.account.notes.push_back(
        "a performance report has average durations but no timestamps: instructions are placed one after another");
    const core::Json& report = facts["report"];
    const auto timed = report["timed_instruction_count"].as_i64();
    const auto all = facts["instruction_count"].as_i64();
    if (timed && all && *timed < *all) {
      result.account.state = trace::Account::State::partial;
      result.account.reason =
          "truncated: " + std::to_string(*all - *timed) + " of " + std::to_string(*all) + " instructions have no duration";
      result.warnings.push_back({"import.truncated",
                                 source.name() + " is truncated or mixed with other lines: " + std::to_string(*all - *timed) +
                                     " instructions have no duration",
                                 "save the complete output of 'migraphx-driver perf'"});
      return;
    }
    const auto sum = report["instructions_ns"].as_f64();
    const auto stated = report["stated_instructions_ns"].as_f64();
    constexpr double kRounding = 0.005;  // the report has six digits of each
    if (!sum || !stated || *stated <= 0) return;
    if (*sum > *stated * (1 + kRounding) || *sum < *stated * (1 - kRounding))
      result.warnings.push_back({"import.statistics_differ",
                                 source.name() + " states " + std::to_string(static_cast<std::int64_t>(*stated)) +
                                     " ns for all instructions, but their durations add up to " +
                                     std::to_string(static_cast<std::int64_t>(*sum)) + " ns",
                                 ""});
    else
      result.account.notes.push_back("the report's instruction total matches the sum of its instructions");
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<MigraphxImporter>(); }

}  // namespace aaco::importers::migraphx
