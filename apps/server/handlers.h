#pragma once

#include "core/result.h"
#include "server/route.h"

// The handlers of the routes: each calls one workflow and writes what the command line's --json prints.
namespace aaco::server {

// Of the session that the path of the request names.
core::Result<std::string> session_path(const Call& call, const Site& site);

core::Result<Response> get_sessions(const Call& call, const Site& site);
core::Result<Response> get_session(const Call& call, const Site& site);
core::Result<Response> get_session_metrics(const Call& call, const Site& site);
core::Result<Response> get_session_bottleneck(const Call& call, const Site& site);
core::Result<Response> get_session_kernels(const Call& call, const Site& site);
core::Result<Response> get_session_nodes(const Call& call, const Site& site);
core::Result<Response> get_session_timeline(const Call& call, const Site& site);
core::Result<Response> get_session_telemetry(const Call& call, const Site& site);
core::Result<Response> get_session_report(const Call& call, const Site& site);
core::Result<Response> get_session_page(const Call& call, const Site& site);
core::Result<Response> get_now(const Call& call, const Site& site);
core::Result<Response> get_notes(const Call& call, const Site& site);
core::Result<Response> put_notes(const Call& call, const Site& site);
core::Result<Response> get_hardware(const Call& call, const Site& site);
core::Result<Response> get_device(const Call& call, const Site& site);
core::Result<Response> get_roofline(const Call& call, const Site& site);
core::Result<Response> get_roofline_page(const Call& call, const Site& site);
core::Result<Response> get_predictions(const Call& call, const Site& site);
core::Result<Response> get_baselines(const Call& call, const Site& site);
core::Result<Response> get_fleet(const Call& call, const Site& site);
core::Result<Response> get_fleet_heat(const Call& call, const Site& site);
core::Result<Response> get_fleet_node(const Call& call, const Site& site);
core::Result<Response> get_diff(const Call& call, const Site& site);
core::Result<Response> get_diff_page(const Call& call, const Site& site);
core::Result<Response> get_history(const Call& call, const Site& site);
core::Result<Response> post_query(const Call& call, const Site& site);
core::Result<Response> get_jobs(const Call& call, const Site& site);
core::Result<Response> get_job(const Call& call, const Site& site);
core::Result<Response> get_job_log(const Call& call, const Site& site);
core::Result<Response> get_job_result(const Call& call, const Site& site);
core::Result<Response> get_policy(const Call& call, const Site& site);
core::Result<Response> post_job(const Call& call, const Site& site);
core::Result<Response> post_job_cancel(const Call& call, const Site& site);
core::Result<Response> get_openapi(const Call& call, const Site& site);
core::Result<Response> get_prometheus(const Call& call, const Site& site);
core::Result<Response> get_dashboard(const Call& call, const Site& site);

}  // namespace aaco::server
