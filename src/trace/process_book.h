#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace aaco::trace {

// Where the rows of one process of several belong.
struct ProcessPlace {
  std::int32_t rank = 0;
  bool owns_ids = true;  // false: its ids could be taken for another process's, and are to be left out
  bool operator==(const ProcessPlace&) const = default;
};

// Numbers the processes of files that tell theirs apart row by row (a pid, a guid), while they are read: each process with GPU
// work is a rank, in order of its first row. With GPU work in one process all rows are of rank 0, and only that process's calls
// keep their ids (each process counts its calls for itself). The files of one run share a book, those with kernels first.
class ProcessBook {
 public:
  static constexpr std::size_t kMax = 4096;  // a column of garbage is not a rank a row

  // Of a kernel, copy or counter. An empty text says nothing of the process: rank 0.
  ProcessPlace of_work(std::string_view process);
  // Of what ran on the host. Before any GPU work: rank 0, with its ids.
  ProcessPlace of_call(std::string_view process);

  [[nodiscard]] std::size_t working() const { return working_; }  // processes with GPU work
  [[nodiscard]] const std::map<std::string, std::int32_t, std::less<>>& ranks() const { return ranks_; }
  // Processes whose calls were asked for before any GPU work: with more than one, calls share rank 0 that should not.
  [[nodiscard]] std::size_t early_callers() const { return early_.size(); }
  [[nodiscard]] bool overflowed() const { return overflowed_; }

 private:
  std::int32_t number(std::string_view process);

  std::map<std::string, std::int32_t, std::less<>> ranks_;  // of the processes that have one
  std::set<std::string, std::less<>> early_;
  std::size_t working_ = 0;
  bool overflowed_ = false;
  std::string last_;  // rows of a process follow each other
  std::int32_t last_rank_ = -1;
};

}  // namespace aaco::trace
