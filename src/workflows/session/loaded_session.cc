#include "workflows/session/loaded_session.h"

namespace aaco::workflows {

core::Result<const analytics::metrics::NodeTime*> LoadedSession::node_time() {
  if (!node_time_) {
    AACO_ASSIGN(const auto iterations, rows<trace::IterationRow>());
    AACO_ASSIGN(const auto nodes, rows<trace::NodeExecutionRow>());
    node_time_ = analytics::metrics::node_time(iterations, nodes, *names_);
  }
  return &*node_time_;
}

}  // namespace aaco::workflows
