#include "importers/rocprofv3/dictionary.h"

#include <algorithm>

#include "importers/stream/json_skim.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::rocprofv3 {
namespace {

using core::Json;

constexpr std::int64_t kGpu = 2;  // rocprofiler_agent_type_t
constexpr std::size_t kMaxAgents = 4096;

// Calls element(text) for each element of a list that stands whole in memory.
template <class Element>
void for_each_element(std::string_view list, Element&& element) {
  if (list.size() < 2 || list.front() != '[') return;
  const char* at = list.data() + 1;
  const char* const end = list.data() + list.size();
  for (;;) {
    while (at < end && (*at == ',' || *at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
    if (at >= end || *at == ']') return;
    const char* behind = skip_value(at, end);
    if (behind == nullptr || behind == at) return;
    element(std::string_view(at, static_cast<std::size_t>(behind - at)));
    at = behind;
  }
}

std::string plain(std::string_view text) {
  const std::string_view raw = unquoted(text);
  return is_plain(raw) ? std::string(raw) : unescape(raw);
}

}  // namespace

std::optional<std::uint64_t> handle_of(std::string_view text) {
  if (text.empty() || text.front() != '{') return token_u64(unquoted(text));
  std::optional<std::uint64_t> handle;
  for_each_member(text, [&](std::string_view key, std::string_view value) {
    if (key == "handle") handle = token_u64(unquoted(value));
  });
  return handle;
}

bool Dictionary::room(std::size_t bytes) {
  constexpr std::size_t kEntry = 64;  // what a map's entry costs besides its text
  if (bytes_ + bytes + kEntry > kMaxBytes) {
    ++left_out_;
    return false;
  }
  bytes_ += bytes + kEntry;
  return true;
}

void Dictionary::add_agent(std::string_view text) {
  if (agents_.size() >= kMaxAgents) {
    ++left_out_;
    return;
  }
  std::optional<std::uint64_t> handle;
  std::optional<std::int64_t> type, node, logical, units, dies, clock_mhz, wave_size, lds_kib;
  std::string name, product, model;
  for_each_member(text, [&](std::string_view key, std::string_view raw) {
    const std::string_view value = unquoted(raw);
    if (key == "id")
      handle = handle_of(raw);
    else if (key == "type")
      type = token_i64(value);
    else if (key == "node_id")
      node = token_i64(value);
    else if (key == "logical_node_id")
      logical = token_i64(value);
    else if (key == "cu_count")
      units = token_i64(value);
    else if (key == "num_xcc")
      dies = token_i64(value);
    else if (key == "max_engine_clk_fcompute")
      clock_mhz = token_i64(value);
    else if (key == "wave_front_size")
      wave_size = token_i64(value);
    else if (key == "lds_size_in_kb")
      lds_kib = token_i64(value);
    else if (key == "name")
      name = plain(raw);
    else if (key == "product_name")
      product = plain(raw);
    else if (key == "model_name")
      model = plain(raw);
  });
  if (!handle) return;
  // The number that rocprofv3's tables use ("Agent 4") is the logical one.
  Agent agent;
  agent.device = logical.value_or(node.value_or(static_cast<std::int64_t>(agents_.size())));
  agent.is_gpu = type == kGpu;
  if (!agents_.emplace(*handle, agent).second || !agent.is_gpu) return;
  Json device = Json::object({{"id", agent.device}});
  device.set_if("node_id", Json(node));
  if (!product.empty()) device.set("name", product);
  if (!name.empty()) device.set("architecture", name);
  if (!model.empty()) device.set("model", model);
  device.set_if("compute_unit_count", Json(units));
  device.set_if("die_count", Json(dies));
  device.set_if("clock_mhz", Json(clock_mhz));
  device.set_if("wave_size", Json(wave_size));
  device.set_if("lds_kib", Json(lds_kib));
  devices_.push(std::move(device));
}

void Dictionary::add_symbol(std::string_view text) {
  std::optional<std::uint64_t> id;
  std::string_view formatted, demangled, mangled;
  Symbol symbol;
  for_each_member(text, [&](std::string_view key, std::string_view raw) {
    const std::string_view value = unquoted(raw);
    if (key == "kernel_id" || (key == "id" && !id))
      id = handle_of(raw);
    else if (key == "formatted_kernel_name")
      formatted = value;
    else if (key == "demangled_kernel_name")
      demangled = value;
    else if (key == "kernel_name")
      mangled = value;
    else if (key == "arch_vgpr_count")
      symbol.registers.vector = token_i64(value);
    else if (key == "sgpr_count")
      symbol.registers.scalar = token_i64(value);
  });
  const std::uint64_t place = next_symbol_++;
  const std::string_view name = !formatted.empty() ? formatted : !demangled.empty() ? demangled : mangled;
  if (name.empty() || !room(name.size())) return;
  symbol.name = name;
  symbols_.insert_or_assign(id.value_or(place), std::move(symbol));
}

void Dictionary::add_counter(std::string_view text) {
  std::optional<std::uint64_t> id;
  std::string_view name;
  for_each_member(text, [&](std::string_view key, std::string_view raw) {
    if (key == "id")
      id = handle_of(raw);
    else if (key == "name")
      name = unquoted(raw);
  });
  if (id && !name.empty() && room(name.size())) counters_.insert_or_assign(*id, std::string(name));
}

void Dictionary::add_kind(std::string_view text) {
  std::vector<std::string> operations;
  for_each_member(text, [&](std::string_view key, std::string_view raw) {
    if (key != "operations") return;
    for_each_element(raw, [&](std::string_view element) {
      const std::string_view name = unquoted(element);
      operations.emplace_back(room(name.size()) ? name : std::string_view());
    });
  });
  if (kinds_.size() < kMaxAgents) kinds_.push_back(std::move(operations));
}

void Dictionary::add_marker(std::string_view text) {
  std::optional<std::uint64_t> key_value;
  std::string_view message;
  for_each_member(text, [&](std::string_view key, std::string_view raw) {
    if (key == "key")
      key_value = token_u64(unquoted(raw));
    else if (key == "value")
      message = unquoted(raw);
  });
  if (key_value && !message.empty() && room(message.size())) markers_.insert_or_assign(*key_value, std::string(message));
}

void Dictionary::add_instruction(std::string_view text) {
  if (room(text.size())) instructions_.push_back(plain(text));
}

void Dictionary::add_comment(std::string_view text) {
  if (room(text.size())) comments_.push_back(plain(text));
}

const Dictionary::Agent* Dictionary::agent(std::uint64_t handle) const {
  const auto found = agents_.find(handle);
  return found == agents_.end() ? nullptr : &found->second;
}

std::string_view Dictionary::symbol(std::uint64_t kernel_id) const {
  const auto found = symbols_.find(kernel_id);
  return found == symbols_.end() ? std::string_view() : found->second.name;
}

Dictionary::Registers Dictionary::registers(std::uint64_t kernel_id) const {
  const auto found = symbols_.find(kernel_id);
  return found == symbols_.end() ? Registers() : found->second.registers;
}

std::string_view Dictionary::counter(std::uint64_t handle) const {
  const auto found = counters_.find(handle);
  return found == counters_.end() ? std::string_view() : found->second;
}

std::uint64_t Dictionary::counter_of(std::uint64_t instance) const {
  constexpr unsigned kInstanceBits = 48;
  const std::uint64_t upper = instance >> kInstanceBits;
  return counters_.contains(instance) || !counters_.contains(upper) ? instance : upper;
}

std::string_view Dictionary::operation(std::uint64_t kind, std::uint64_t operation) const {
  if (kind >= kinds_.size() || operation >= kinds_[kind].size()) return {};
  return kinds_[kind][operation];
}

std::string_view Dictionary::marker(std::uint64_t correlation_id) const {
  const auto found = markers_.find(correlation_id);
  return found == markers_.end() ? std::string_view() : found->second;
}

std::string_view Dictionary::instruction(std::int64_t index) const {
  return index >= 0 && static_cast<std::size_t>(index) < instructions_.size() ? instructions_[static_cast<std::size_t>(index)]
                                                                              : std::string_view();
}

std::string_view Dictionary::comment(std::int64_t index) const {
  return index >= 0 && static_cast<std::size_t>(index) < comments_.size() ? comments_[static_cast<std::size_t>(index)]
                                                                          : std::string_view();
}

}  // namespace aaco::importers::rocprofv3
