// How fast and in how much memory rocprofv3's tables and documents are imported: texts made on the fly by repeating a record with
// new times and ids; into nothing (parsing alone) and into Parquet. Checks counts and sums. Usage: rocm_import_speed [GIGABYTES]
#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/clock.h"
#include "core/files.h"
#include "core/random.h"
#include "importers/rocprofv3.h"
#include "trace/partial_sink.h"
#include "tracelake/bundle.h"

namespace {

using namespace aaco;

constexpr std::int64_t kKernelNs = 14'008;

// T is a start, E an end, I an id: 16, 16 and 10 digits.
struct Pattern {
  const char* what;
  std::string_view head, record, tail;
  std::unique_ptr<importers::Importer> (*importer)();
};

constexpr std::string_view kTableHead =
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_"
    "Id\",\"Start_"
    "Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
    "\"Workgroup_Size_X\","
    "\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n";
constexpr std::string_view kTableRecord =
    "\"KERNEL_DISPATCH\",\"Agent "
    "4\",1,3,2046349,IIIIIIIIII,17,\"Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x96x64_MI16x16x1_SN_LDSB0_"
    "AFC1_AFEM1_AFEM1\",IIIIIIIIII,TTTTTTTTTTTTTTTT,EEEEEEEEEEEEEEEE,65536,0,128,64,96,256,1,1,10752,1,1\n";
constexpr std::string_view kDocumentHead =
    "{\n\"rocprofiler-sdk-tool\": [\n{\n\"metadata\": {\"pid\": 7},\n\"agents\": [{\"id\": {\"handle\": 12}, \"type\": 2, "
    "\"logical_node_id\": 4}],\n"
    "\"strings\": {\"buffer_records\": [{\"kind\": \"NONE\", \"operations\": []}]},\n\"kernel_symbols\": [{\"kernel_id\": 17, "
    "\"formatted_kernel_"
    "name\": \"Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x96x64_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1\"}],\n"
    "\"buffer_records\": {\n\"kernel_dispatch\": [\n";
// As the tool writes it: a line each member.
constexpr std::string_view kDocumentRecord =
    "{\n\"size\": 176,\n\"kind\": 11,\n\"operation\": 1,\n\"thread_id\": 2046349,\n\"correlation_id\": {\n\"internal\": "
    "IIIIIIIIII,\n\"external\": "
    "0\n},\n\"start_timestamp\": TTTTTTTTTTTTTTTT,\n\"end_timestamp\": EEEEEEEEEEEEEEEE,\n\"dispatch_info\": {\n\"size\": "
    "88,\n\"agent_id\": "
    "{\n\"handle\": 12\n},\n\"queue_id\": {\n\"handle\": 1\n},\n\"kernel_id\": 17,\n\"dispatch_id\": "
    "IIIIIIIIII,\n\"private_segment_size\": 0,\n"
    "\"group_segment_size\": 65536,\n\"workgroup_size\": {\n\"x\": 256,\n\"y\": 1,\n\"z\": 1\n},\n\"grid_size\": {\n\"x\": "
    "10752,\n\"y\": 1,\n\"z\": "
    "1\n}\n},\n\"stream_id\": {\n\"handle\": 3\n}\n},\n";
constexpr std::string_view kDocumentTail = "{}\n]\n}\n}\n]\n}\n";

class PatternSource final : public trace::ByteSource {
 public:
  PatternSource(const Pattern& pattern, std::int64_t bytes)
      : records_(bytes / static_cast<std::int64_t>(pattern.record.size())),
        text_(pattern.record),
        tail_(pattern.tail),
        current_(pattern.head) {
    find("TTTTTTTTTTTTTTTT", starts_);
    find("EEEEEEEEEEEEEEEE", ends_);
    find("IIIIIIIIII", ids_);
  }
  core::Result<std::size_t> read(std::span<char> into) override {
    std::size_t size = 0;
    while (size < into.size() && !current_.empty()) {
      const std::size_t count = current_.copy(into.data() + size, into.size() - size);
      size += count;
      current_.remove_prefix(count);
      if (current_.empty()) next();
    }
    bytes_ += static_cast<std::int64_t>(size);
    return size;
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::string path() const override { return {}; }
  [[nodiscard]] std::int64_t records() const { return records_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  void find(std::string_view mark, std::vector<std::size_t>& places) const {
    for (auto at = text_.find(mark); at != std::string::npos; at = text_.find(mark, at + mark.size())) places.push_back(at);
  }
  void put(const std::vector<std::size_t>& places, std::size_t digits, std::int64_t value) {
    for (const std::size_t at : places) {
      std::int64_t rest = value;
      for (std::size_t i = digits; i-- > 0; rest /= 10) text_[at + i] = static_cast<char>('0' + rest % 10);
    }
  }
  void next() {
    if (made_ > records_) return;
    if (made_++ == records_) {
      current_ = tail_;
      return;
    }
    put(starts_, 16, 1'550'151'853'029'637 + 20'000 * made_);
    put(ends_, 16, 1'550'151'853'029'637 + 20'000 * made_ + kKernelNs);
    put(ids_, 10, 1'000'000'000 + made_);
    current_ = text_;
  }

  std::string name_ = "a repeated record";
  std::int64_t records_;
  std::int64_t made_ = 0;
  std::int64_t bytes_ = 0;
  std::string text_;
  std::string_view tail_;
  std::string_view current_;
  std::vector<std::size_t> starts_, ends_, ids_;
};

// Counts kernels on their way; without a target they end here.
class Counting final : public trace::PartialSink {
 public:
  using PartialSink::add;
  explicit Counting(trace::Sink* target) : target_(target) {}
  void add(const trace::KernelRow& row) override {
    ++kernels_, kernel_ns_ += row.end_ns - row.start_ns;
    if (target_ != nullptr) target_->add(row);
  }
  trace::NameId name(std::string_view text) override {
    return target_ != nullptr ? target_->name(text) : PartialSink::name(text);
  }
  [[nodiscard]] core::Status status() const override { return target_ != nullptr ? target_->status() : core::Status(); }
  [[nodiscard]] std::int64_t kernels() const { return kernels_; }
  [[nodiscard]] std::int64_t kernel_ns() const { return kernel_ns_; }

 private:
  trace::Sink* target_;
  std::int64_t kernels_ = 0;
  std::int64_t kernel_ns_ = 0;
};

void check(bool right, const char* what) {
  if (right) return;
  fmt::print(stderr, "rocm_import_speed: check failed: {}\n", what);
  std::exit(1);
}

double cpu_seconds() {
  rusage use = {};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double peak_mib() {
  rusage use = {};
  ::getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) / 1024;
}

void import_pattern(const Pattern& pattern, std::int64_t bytes, trace::Sink* target, const char* where) {
  PatternSource source(pattern, bytes);
  Counting sink(target);
  const std::int64_t begin = core::monotonic_ns();
  const double cpu = cpu_seconds();
  const auto result = pattern.importer()->import(source, sink);
  const double seconds = static_cast<double>(core::monotonic_ns() - begin) / 1e9;
  check(result.has_value(), "the import");
  check(sink.kernels() == source.records() && sink.kernel_ns() == source.records() * kKernelNs, "the number or sum of kernels");
  const auto mb = static_cast<double>(source.bytes()) / 1e6;
  fmt::print(
      "{:>5} into {}: {:.0f} MB in {:.2f} s = {:.0f} MB/s wall ({:.0f} MB/CPU-s), {:.2f} million kernels/s, peak {:.0f} "
      "MiB\n",
      pattern.what, where, mb, seconds, mb / seconds, mb / (cpu_seconds() - cpu),
      static_cast<double>(sink.kernels()) / 1e6 / seconds, peak_mib());
}

void into_parquet(const Pattern& pattern, std::int64_t bytes, const std::string& folder) {
  trace::SessionManifest manifest;
  manifest.id = core::make_session_id(1'700'000'000'000'000'000, core::system_entropy());
  manifest.kind = "import";
  auto writer = tracelake::BundleWriter::create(folder, manifest);
  check(writer.has_value(), "the bundle");
  import_pattern(pattern, bytes, &(*writer)->sink(), "Parquet");
  check((*writer)->flush().has_value(), "the flush");
}

}  // namespace

int main(int count, char** arguments) {
  const double gigabytes = count > 1 ? std::atof(arguments[1]) : 1;
  const auto bytes = static_cast<std::int64_t>(gigabytes * 1e9);
  const auto folder = core::TemporaryDirectory::make("/tmp", "aaco-bench");
  check(folder.has_value(), "creating a temporary folder");
  const Pattern patterns[] = {{"CSV", kTableHead, kTableRecord, "", importers::rocprofv3::make_csv_importer},
                              {"JSON", kDocumentHead, kDocumentRecord, kDocumentTail, importers::rocprofv3::make_json_importer}};
  for (const Pattern& pattern : patterns) {
    import_pattern(pattern, bytes, nullptr, "nothing");
    into_parquet(pattern, bytes, folder->path());
  }
  return 0;
}
