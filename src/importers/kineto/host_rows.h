#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "importers/kineto/category.h"
#include "importers/kineto/gpu_rows.h"

namespace aaco::importers::kineto {

// Numbers of processes and threads: a whole number stays what it is, any other text gets a negative number of its own.
class ThreadNumbers {
 public:
  std::int64_t number(std::string_view token);
  [[nodiscard]] const std::unordered_map<std::string, std::int64_t>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string, std::int64_t> texts_;
};

// Makes API call rows. Of the arguments it keeps what attribution and the roofline read: shapes, types, small concrete inputs;
// copies' sizes and directions; not what differs from call to call. Arguments are interned: beyond kMaxArguments different ones,
// or kMaxArgumentBytes of them, they are left out and counted.
class HostRows {
 public:
  // `launched_kernels`: launches keep the name of their kernel.
  HostRows(std::int32_t rank, TextIds& ids, bool launched_kernels = false)
      : rank_(rank), ids_(ids), launched_kernels_(launched_kernels) {}
  trace::ApiCallRow row(const TraceEvent& event, Category category, Span span);
  [[nodiscard]] std::int64_t arguments_left_out() const { return left_out_; }

  static constexpr std::int64_t kMaxArguments = 200'000;
  static constexpr std::size_t kMaxArgumentBytes = std::size_t{32} << 20;

 private:
  trace::NameId arguments(const std::string& kept);

  std::int32_t rank_;
  TextIds& ids_;
  bool launched_kernels_ = false;
  ThreadNumbers numbers_;
  std::string kept_;  // reused
  std::unordered_map<std::string, trace::NameId> known_;
  std::size_t known_bytes_ = 0;
  std::int64_t left_out_ = 0;
};

std::string_view domain_of(Category category, std::string_view name);

}  // namespace aaco::importers::kineto
