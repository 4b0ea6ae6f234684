#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/tflite.h"

// TFLite files written by hand, for tests.
namespace aaco::graph::tflite {

// What a FlatBuffers file is made of, written front to back: a table's vtable lies in front of it, its children behind.
struct Flat {
  enum class Kind { number, text, numbers, tables, table } kind = Kind::number;
  std::int64_t number = 0;
  std::size_t size = 4;  // of a number
  std::string text;
  std::vector<std::int64_t> numbers;
  std::vector<std::pair<int, Flat>> fields;
  std::vector<Flat> tables;
};

inline Flat number(std::int64_t value, std::size_t size = 4) { return {Flat::Kind::number, value, size, {}, {}, {}, {}}; }
inline Flat text(std::string value) { return {Flat::Kind::text, 0, 4, std::move(value), {}, {}, {}}; }
inline Flat numbers(std::vector<std::int64_t> values) { return {Flat::Kind::numbers, 0, 4, {}, std::move(values), {}, {}}; }
inline Flat tables(std::vector<Flat> items) { return {Flat::Kind::tables, 0, 4, {}, {}, {}, std::move(items)}; }
inline Flat table(std::vector<std::pair<int, Flat>> fields) { return {Flat::Kind::table, 0, 4, {}, {}, std::move(fields), {}}; }

class Writer {
 public:
  static std::string write(const Flat& root) {
    Writer writer;
    writer.put(0, 4);
    writer.bytes_ += "TFL3";
    writer.patch(0, writer.append(root));
    return writer.bytes_;
  }

 private:
  void put(std::uint64_t value, std::size_t size) {
    for (std::size_t index = 0; index < size; ++index) bytes_ += static_cast<char>((value >> (8 * index)) & 0xFF);
  }
  void patch(std::size_t at, std::size_t target) {
    const std::uint64_t offset = target - at;
    for (std::size_t index = 0; index < 4; ++index) bytes_[at + index] = static_cast<char>((offset >> (8 * index)) & 0xFF);
  }
  std::size_t append(const Flat& item) {
    while (bytes_.size() % 8 != 0) bytes_ += '\0';
    const std::size_t start = bytes_.size();
    if (item.kind == Flat::Kind::text) {
      put(item.text.size(), 4);
      bytes_ += item.text;
      return start;
    }
    if (item.kind == Flat::Kind::numbers) {
      put(item.numbers.size(), 4);
      for (const std::int64_t value : item.numbers) put(static_cast<std::uint64_t>(value), 4);
      return start;
    }
    if (item.kind == Flat::Kind::tables) {
      put(item.tables.size(), 4);
      for (std::size_t index = 0; index < item.tables.size(); ++index) put(0, 4);
      for (std::size_t index = 0; index < item.tables.size(); ++index) patch(start + 4 + 4 * index, append(item.tables[index]));
      return start;
    }
    return append_table(item);
  }
  std::size_t append_table(const Flat& item) {
    int last = -1;
    for (const auto& [field, value] : item.fields) last = std::max(last, field);
    const std::size_t vtable = bytes_.size();
    const std::size_t vtable_bytes = 4 + 2 * static_cast<std::size_t>(last + 1);
    // Every field has eight bytes of its own behind the offset to the vtable.
    put(vtable_bytes, 2);
    put(8 + 8 * item.fields.size(), 2);
    std::vector<std::size_t> places(static_cast<std::size_t>(last + 1), 0);
    for (std::size_t index = 0; index < item.fields.size(); ++index)
      places[static_cast<std::size_t>(item.fields[index].first)] = 8 + 8 * index;
    for (const std::size_t place : places) put(place, 2);
    while (bytes_.size() % 8 != 0) bytes_ += '\0';
    const std::size_t start = bytes_.size();
    put(start - vtable, 8);
    for (const auto& [field, value] : item.fields)
      put(value.kind == Flat::Kind::number ? static_cast<std::uint64_t>(value.number) : 0, 8);
    for (std::size_t index = 0; index < item.fields.size(); ++index)
      if (item.fields[index].second.kind != Flat::Kind::number) patch(start + 8 + 8 * index, append(item.fields[index].second));
    return start;
  }
  std::string bytes_;
};

// A tensor: shape, type, buffer, name, signature.
inline Flat tensor(const std::string& name, std::vector<std::int64_t> shape, std::int64_t buffer = 0, std::int64_t type = 0,
                   std::vector<std::int64_t> signature = {}) {
  std::vector<std::pair<int, Flat>> fields = {
      {0, numbers(std::move(shape))}, {1, number(type, 1)}, {2, number(buffer)}, {3, text(name)}};
  if (!signature.empty()) fields.emplace_back(7, numbers(std::move(signature)));
  return table(std::move(fields));
}

inline Flat node(std::int64_t code, std::vector<std::int64_t> inputs, std::vector<std::int64_t> outputs,
                 std::vector<std::pair<int, Flat>> options = {}) {
  std::vector<std::pair<int, Flat>> fields = {
      {0, number(code)}, {1, numbers(std::move(inputs))}, {2, numbers(std::move(outputs))}};
  if (!options.empty()) fields.emplace_back(4, table(std::move(options)));
  return table(std::move(fields));
}

struct ModelFile {
  std::vector<Flat> codes, tensors, operators, buffers = {table({})}, further;  // buffer 0 is empty
  std::vector<std::int64_t> inputs = {0}, outputs;
  std::vector<Flat> signatures;
  std::int64_t version = 3;

  void code(std::int64_t number_of) {
    codes.push_back(table({{0, number(std::min<std::int64_t>(number_of, 127), 1)}, {3, number(number_of)}}));
  }
  [[nodiscard]] std::string bytes() const {
    std::vector<Flat> graphs = {
        table({{0, tables(tensors)}, {1, numbers(inputs)}, {2, numbers(outputs)}, {3, tables(operators)}, {4, text("main")}})};
    graphs.insert(graphs.end(), further.begin(), further.end());
    return Writer::write(table({{0, number(version)},
                                {1, tables(codes)},
                                {2, tables(graphs)},
                                {3, text("by hand")},
                                {4, tables(buffers)},
                                {7, tables(signatures)}}));
  }
  [[nodiscard]] core::Result<Graph> parse() const {
    AACO_ASSIGN(Source source, tflite::parse(bytes(), "test.tflite"));
    return std::move(source.graph);
  }
  [[nodiscard]] std::string refusal() const {
    const auto graph = parse();
    return graph ? "" : graph.error().text();
  }
};

}  // namespace aaco::graph::tflite
