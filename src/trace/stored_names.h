#pragma once

#include <optional>
#include <vector>

#include "trace/sink.h"

namespace aaco::trace {

// Names of a table, as a sink numbers them: what an analysis adds to a bundle has the bundle's ids.
class StoredNames {
 public:
  StoredNames(const NameTable& names, Sink& sink) : names_(names), sink_(sink) {}
  NameId operator()(NameId name) {
    if (name.value >= stored_.size()) stored_.resize(names_.size());
    std::optional<NameId>& known = stored_[name.value];
    if (!known) known = sink_.name(names_.text(name));
    return *known;
  }

 private:
  const NameTable& names_;
  Sink& sink_;
  std::vector<std::optional<NameId>> stored_;  // by the id in the table
};

}  // namespace aaco::trace
