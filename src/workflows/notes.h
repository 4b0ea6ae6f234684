#pragma once

#include "tracelake/session_notes.h"

// What people wrote about a session (tracelake/session_notes.h), for the faces.
namespace aaco::workflows {

using tracelake::all_notes;
using tracelake::read_notes;
using tracelake::remove_notes;
using tracelake::SessionNotes;
using tracelake::write_notes;

}  // namespace aaco::workflows
