#include "agent/engine_receiver.h"

#include "agent/agent.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::agent {

EngineReceiver::EngineReceiver(tracelake::RemoteServer server)
    : server_(std::move(server)), statement_(tracelake::fleet_minutes_insert(server_.target(), row_columns())) {}

// A user that may only insert cannot create: then the table must be there already, which the insert shows.
core::Status EngineReceiver::prepare() {
  if (prepared_) return {};
  auto prepared = tracelake::prepare_fleet_minutes(server_);
  if (!prepared && prepared.error().code != core::ErrorCode::permission) return prepared;
  prepared_ = true;
  return {};
}

core::Status EngineReceiver::insert(std::string rows) {
  AACO_TRY(prepare());
  return server_.insert(statement_, std::move(rows));
}

core::Result<std::int64_t> EngineReceiver::now_s() {
  AACO_TRY(prepare());
  AACO_ASSIGN(const std::string reply, server_.run("SELECT toUInt32(now())"));
  const auto second = core::parse_i64(core::trim(reply));
  if (!second) return core::fail(core::ErrorCode::invalid_input, "ClickHouse answered in another format");
  return *second;
}

}  // namespace aaco::agent
