#pragma once

#include <memory>
#include <span>
#include <utility>

#include "core/result.h"
#include "tracelake/lake.h"

namespace aaco::workflows {

// One table's rows, one after another, with a look at the next: for walking several tables side by side.
template <class Row>
class RowPuller {
 public:
  static core::Result<RowPuller> open(const std::string& session_path, trace::NameTable& names,
                                      const std::vector<tracelake::Instead>& instead = {}) {
    AACO_ASSIGN(auto stream, tracelake::open_rows<Row>(session_path, names, instead));
    RowPuller puller(std::move(stream));
    AACO_TRY(puller.refill());
    return puller;
  }
  // The next row, null at the end. It lives until pop().
  [[nodiscard]] const Row* peek() const { return at_ < rows_.size() ? &rows_[at_] : nullptr; }
  core::Status pop() {
    ++at_;
    return at_ < rows_.size() ? core::Status() : refill();
  }

 private:
  explicit RowPuller(std::unique_ptr<tracelake::RowStream<Row>> stream) : stream_(std::move(stream)) {}
  core::Status refill() {
    AACO_ASSIGN(rows_, stream_->next());
    at_ = 0;
    return {};
  }

  std::unique_ptr<tracelake::RowStream<Row>> stream_;
  std::span<const Row> rows_;
  std::size_t at_ = 0;
};

}  // namespace aaco::workflows
