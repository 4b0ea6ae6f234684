#include "importers/rocprofv3/json_reader.h"

#include "core/numbers.h"
#include "importers/rocm/values.h"

namespace aaco::importers::rocprofv3 {
namespace {

using core::Json;

constexpr std::size_t kLargestFact = std::size_t{64} << 10;
constexpr std::size_t kMaxSummaries = 64;

// Containers that are entered.
enum Tag : int {
  kDocument = 1,
  kTool,     // the list of processes
  kProcess,  // and one of it
  kStrings,
  kBufferRecords,
  kCallbackRecords,
  kAgents,
  kSymbols,
  kCounters,
  kSummary,
  kKinds,
  kMarkers,
  kInstructions,
  kComments,
  kRecords,
};

int tag_in_process(std::string_view key, bool is_array) {
  if (!is_array)
    return key == "strings"            ? kStrings
           : key == "buffer_records"   ? kBufferRecords
           : key == "callback_records" ? kCallbackRecords
                                       : 0;
  return key == "agents"           ? kAgents
         : key == "kernel_symbols" ? kSymbols
         : key == "counters"       ? kCounters
         : key == "summary"        ? kSummary
                                   : 0;
}

int tag_in_strings(std::string_view key) {
  if (key == "buffer_records") return kKinds;
  if (key == "marker_api") return kMarkers;
  if (key == "pc_sample_instructions") return kInstructions;
  return key == "pc_sample_comments" ? kComments : 0;
}

List list_of(std::string_view key) {
  if (key == "kernel_dispatch") return List::kernels;
  if (key == "memory_copy") return List::copies;
  if (key == "memory_allocation") return List::allocations;
  if (key == "scratch_memory") return List::scratch;
  if (key == "counter_collection") return List::counters;
  return key.starts_with("pc_sampl") ? List::samples : List::api;
}

}  // namespace

JsonReader::JsonReader(trace::Sink& sink, ImportResult& result) : sink_(sink), result_(result) {}

int JsonReader::tag_of(int parent, std::string_view key, bool is_array) const {
  switch (parent) {
    case 0: return is_array ? 0 : kDocument;
    case kDocument:
      if (key != "rocprofiler-sdk-tool") return 0;
      return is_array ? kTool : kProcess;
    case kTool: return is_array ? 0 : kProcess;
    case kProcess: return tag_in_process(key, is_array);
    case kStrings: return is_array ? tag_in_strings(key) : 0;
    case kBufferRecords: return is_array ? kRecords : 0;
    case kCallbackRecords: return is_array && key == "counter_collection" ? kRecords : 0;
    default: return 0;
  }
}

void JsonReader::enter(int tag, std::string_view key) {
  if (tag == kTool || tag == kProcess) ours_ = true;
  if (tag == kProcess) begin_process();
  if (tag != kRecords) return;
  list_ = list_of(key);
  domain_ = sink_.name(list_ == List::allocations || list_ == List::scratch ? std::string(key) : rocm::domain_of(key)).value;
}

void JsonReader::value(int parent, std::string_view key, std::string_view text) {
  switch (parent) {
    case kProcess:
      if (key == "metadata") metadata(text);
      return;
    case kAgents: return dictionary_->add_agent(text);
    case kSymbols: return dictionary_->add_symbol(text);
    case kCounters: return dictionary_->add_counter(text);
    case kKinds: return dictionary_->add_kind(text);
    case kMarkers: return dictionary_->add_marker(text);
    case kInstructions: return dictionary_->add_instruction(text);
    case kComments: return dictionary_->add_comment(text);
    case kSummary:
      if (text.size() <= kLargestFact && summary_.items().size() < kMaxSummaries)
        if (auto document = Json::parse(text)) summary_.push(std::move(*document));
      return;
    case kRecords: return list_ == List::samples ? sample(text) : record(text);
    default: return;
  }
}

void JsonReader::leave(int tag) {
  if (tag == kProcess) end_process();
}

void JsonReader::begin_process() {
  in_process_ = true;
  process_id_ = 0;
  process_kept_ = 0;
  process_ = Json::object();
  dictionary_ = std::make_unique<Dictionary>();
  rows_.reset();
}

RecordRows& JsonReader::rows() {
  if (!rows_) rows_ = std::make_unique<RecordRows>(sink_, *dictionary_, rank_, process_id_);
  return *rows_;
}

void JsonReader::end_process() {
  if (!in_process_) return;
  in_process_ = false;
  if (rows_) {
    rows_->finish(result_.account);
    for (const auto& [name, count] : rows_->counters()) counters_[name] += count;
  }
  if (dictionary_->left_out() > 0)
    result_.account.notes.push_back(std::to_string(dictionary_->left_out()) + " names and agents were dropped (limit reached)");
  const Json devices = dictionary_->devices();
  for (const Json& device : devices.items()) devices_.push(device);
  if (!process_.members().empty()) processes_.push(process_);
  if (process_kept_ > 0) ++rank_;
  rows_.reset();
}

void JsonReader::metadata(std::string_view text) {
  if (text.size() > kLargestFact) return;
  const auto document = Json::parse(text);
  if (!document) return;
  process_id_ = (*document)["pid"].as_i64().value_or(0);
  for (const char* key : {"pid", "init_time", "fini_time", "command"}) process_.set_if(key, (*document)[key]);
  const Json& node = (*document)["node"];
  for (const char* key : {"hostname", "node_name", "system_name"})
    if (const auto host = node[key].as_string(); host && result_.host.empty()) result_.host = *host;
}

void JsonReader::record(std::string_view text) {
  Record record;
  record.list = list_;
  record.domain = domain_;
  values_.clear();
  if (!read_record(text, record, values_)) return drop("record that is not an object");
  const bool counters = list_ == List::counters;
  const bool timed = record.start_ns && record.end_ns && (*record.start_ns != 0 || *record.end_ns != 0);
  const bool ordered = timed && *record.start_ns <= *record.end_ns;
  if (counters && values_.empty() && !ordered) return drop("dispatch without times or counters");
  if (!counters && !timed) return drop(rocm::kNoTime);
  if (!counters && !ordered) return drop(rocm::kNegative);
  if (!ordered) record.start_ns = record.end_ns = std::nullopt;
  ++kept_;
  ++process_kept_;
  if (counters)
    rows().add(record, values_);
  else
    rows().add(record);
}

void JsonReader::sample(std::string_view text) {
  const Sample sample = read_sample(text);
  if (!sample.time_ns) return drop(rocm::kNoTime);
  ++kept_;
  const std::int64_t index = sample.instruction.value_or(-1);
  std::string instruction(dictionary_->instruction(index));
  if (instruction.empty()) instruction = index < 0 ? "unknown" : "instruction " + std::to_string(index);
  samples_.add(*sample.time_ns, instruction, dictionary_->comment(index), sample.type, sample.stall_reason, sample.dispatch_id);
}

void JsonReader::finish() {
  end_process();
  trace::Account& account = result_.account;
  account.keep(kept_);
  for (const auto& [reason, count] : dropped_) account.drop(reason, count);
  if (rank_ > 1)
    account.notes.push_back("the document contains " + std::to_string(rank_) + " processes with records, each treated as a rank");
  const auto set = [&](const char* key, Json list) {
    if (!list.items().empty()) result_.facts.set(key, std::move(list));
  };
  set("devices", std::move(devices_));
  set("processes", std::move(processes_));
  set("summary", std::move(summary_));
  Json list = Json::array();
  for (const auto& [name, count] : counters_) list.push(clean_utf8(name));
  set("counters", std::move(list));
  if (Json summary = samples_.summary(); summary.is_object()) result_.facts.set("program_counter_samples", std::move(summary));
}

}  // namespace aaco::importers::rocprofv3
