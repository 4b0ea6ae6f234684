#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "importers/importer.h"
#include "importers/rocm/sample_counts.h"
#include "importers/rocprofv3/record_rows.h"
#include "importers/stream/json_walk.h"

namespace aaco::importers::rocprofv3 {

// Reads the document that rocprofv3 writes as JSON, one process after the other.
class JsonReader final : public JsonVisitor {
 public:
  JsonReader(trace::Sink& sink, ImportResult& result);

  [[nodiscard]] int tag_of(int parent, std::string_view key, bool is_array) const override;
  void enter(int tag, std::string_view key) override;
  void value(int parent, std::string_view key, std::string_view text) override;
  void leave(int tag) override;
  core::Status status() override { return sink_.status(); }
  // Once, behind the document; also where it is cut inside a process.
  void finish();
  [[nodiscard]] bool is_ours() const { return ours_; }

 private:
  void begin_process();
  void end_process();
  void record(std::string_view text);
  void sample(std::string_view text);
  void metadata(std::string_view text);
  RecordRows& rows();
  void drop(const char* reason) { ++dropped_[reason]; }

  trace::Sink& sink_;
  ImportResult& result_;
  std::unique_ptr<Dictionary> dictionary_ = std::make_unique<Dictionary>();
  std::unique_ptr<RecordRows> rows_;
  rocm::SampleCounts samples_;
  std::vector<CounterValue> values_;
  List list_ = List::api;
  std::uint32_t domain_ = 0;
  core::Json devices_ = core::Json::array();
  core::Json processes_ = core::Json::array();
  core::Json process_ = core::Json::object();
  core::Json summary_ = core::Json::array();
  std::map<std::string, std::int64_t> counters_;
  std::unordered_map<const char*, std::int64_t> dropped_;  // by literal
  std::int64_t kept_ = 0, process_kept_ = 0;
  std::int64_t process_id_ = 0;
  std::int32_t rank_ = 0;
  bool ours_ = false;
  bool in_process_ = false;
};

}  // namespace aaco::importers::rocprofv3
