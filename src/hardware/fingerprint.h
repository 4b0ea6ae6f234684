#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace aaco::hardware {

// One thing that must be equal for two sessions to be compared, or that should be known to differ. The value is text;
// unknown facts are left out.
struct Fact {
  std::string key;
  std::string value;
  auto operator<=>(const Fact&) const = default;
};

// hard: the sides measure different problems or machines, a comparison is refused. changed: what a comparison of two versions is
// about (model, runtime, graph level): named first, then judged. soft: reported as a note.
enum class Severity { hard, changed, soft };
std::string_view to_string(Severity severity);

// A key of the fingerprint with what a difference means. Of unlisted keys a difference is soft.
struct FactRule {
  std::string_view key;
  Severity severity = Severity::soft;
  std::string_view meaning;
  std::string_view usual;  // what a fingerprint without this key had; empty: not known
};

// Every key there is, in the order they are reported:
//   machine  cpu.model cpu.cores cpu.allowed_cores cpu.allowed_list cpu.limit_cores cpu.governor cpu.boost cpu.smt
//   memory.total_bytes
//            gpu.devices gpu.partitions gpu.visible driver.amdgpu driver.nvidia driver.rocm kernel host
//   run      runtime.name runtime.version runtime.hash provider device threads.intra threads.inter graph_level model.hash
//            session_options inputs.hash input_shapes batch dtype seed mode isolation load slo measured_with job.ranks
//   process  process.nice process.scheduler memory.limit_bytes cpu.weight environment.preload environment.allocator
//            process.tracer: only where they are not as usual; of a recording: program command
const std::vector<FactRule>& fact_rules();

struct Fingerprint {
  std::vector<Fact> facts;  // sorted by key, each key once
  std::string hash;  // 16 hex digits over the hard and changed facts: equal hashes measured the same thing as far as is known
  bool operator==(const Fingerprint&) const = default;
};

// Of a key given twice the last value counts. Facts with an empty value are left out.
Fingerprint make_fingerprint(std::vector<Fact> facts);

struct Difference {
  std::string key;
  std::string a, b;  // empty: not known on that side
  Severity severity = Severity::soft;
  std::string meaning;
  bool operator==(const Difference&) const = default;
};

// What differs, hard first, then changed. A fact that only one side knows is soft; shapes of other data types only are changed.
std::vector<Difference> compare_fingerprints(const Fingerprint& a, const Fingerprint& b);
// No hard difference.
bool comparable(const std::vector<Difference>& differences);
// Neither a hard nor a changed difference: repeated measurements of one thing.
bool same_subject(const std::vector<Difference>& differences);
// "threads.intra: 2 vs 4 (different number of intra-op threads)"; of the model's hash the first 16 digits.
std::string to_text(const Difference& difference);

core::Json to_json(const Fingerprint& fingerprint);
core::Result<Fingerprint> fingerprint_from_json(const core::Json& document);

}  // namespace aaco::hardware
