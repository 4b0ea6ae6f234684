#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include "core/result.h"
#include "trace/names.h"
#include "trace/process_book.h"
#include "trace/rows.h"

namespace aaco::trace {

template <class Row>
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void add(const Row& row) = 0;
};

template <class List>
class SinkOf;
template <class... Rows>
class SinkOf<RowList<Rows...>> : public RowSink<Rows>... {
 public:
  using RowSink<Rows>::add...;
};

// Accepts the facts that importers, collectors and the runner produce. Adding never fails by itself: a sink that has lost its
// disk keeps the first error, ignores what follows, and answers it from status(), which producers ask now and then (each
// chunk) and at the end. One producer at a time: a sink is not thread-safe.
class Sink : public SinkOf<AllRows> {
 public:
  // The id of a text in this sink's name table, for the rows' NameId members.
  virtual NameId name(std::string_view text) = 0;
  [[nodiscard]] virtual core::Status status() const = 0;
  // Where a reader numbers the processes of a file that holds several; null: the files of a session share none, and the reader
  // has its own.
  [[nodiscard]] virtual ProcessBook* processes() { return nullptr; }
};

// The base of a sink that treats all rows alike: add() of every row calls Derived::take(row), a template. Derived may override
// add() of single rows, and then says `using EveryRow::add`.
template <class Derived, class List = AllRows>
class EveryRowTo;
template <class Derived>
class EveryRowTo<Derived, RowList<>> : public Sink {};
template <class Derived, class Row, class... Rest>
class EveryRowTo<Derived, RowList<Row, Rest...>> : public EveryRowTo<Derived, RowList<Rest...>> {
 public:
  using EveryRowTo<Derived, RowList<Rest...>>::add;
  void add(const Row& row) override { static_cast<Derived*>(this)->take(row); }
};

// One T<Row> for each row.
template <template <class> class T, class List>
struct TupleOf;
template <template <class> class T, class... Rows>
struct TupleOf<T, RowList<Rows...>> {
  using type = std::tuple<T<Rows>...>;
};
template <template <class> class T>
using TupleOfRows = typename TupleOf<T, AllRows>::type;

// Keeps every row in memory: for tests, and for small sets that are computed on before they are stored.
class MemorySink final : public EveryRowTo<MemorySink> {
 public:
  template <class Row>
  void take(const Row& row) {
    std::get<std::vector<Row>>(rows_).push_back(row);
  }
  NameId name(std::string_view text) override { return names_.intern(text); }
  [[nodiscard]] core::Status status() const override { return {}; }

  template <class Row>
  [[nodiscard]] const std::vector<Row>& rows() const {
    return std::get<std::vector<Row>>(rows_);
  }
  [[nodiscard]] std::string_view text(NameId id) const { return names_.text(id); }
  [[nodiscard]] const NameTable& names() const { return names_; }

 private:
  NameTable names_;
  template <class Row>
  using Rows = std::vector<Row>;
  TupleOfRows<Rows> rows_;
};

}  // namespace aaco::trace
