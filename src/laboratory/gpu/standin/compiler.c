// Stands in for hipRTC: its code is the source. STANDIN_COMPILE fails with that status and a message.
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT int hiprtcCreateProgram(void** program, const char* source, const char* name, int headers, const char** texts,
                               const char** names) {
  (void)name, (void)headers, (void)texts, (void)names;
  *program = strdup(source);
  return 0;
}
EXPORT int hiprtcCompileProgram(void* program, int count, const char** options) {
  const char* fails = getenv("STANDIN_COMPILE");
  (void)program, (void)count, (void)options;
  return fails ? atoi(fails) : 0;
}
EXPORT int hiprtcGetCodeSize(void* program, size_t* bytes) {
  *bytes = strlen(program) + 1;
  return 0;
}
EXPORT int hiprtcGetCode(void* program, char* code) {
  memcpy(code, program, strlen(program) + 1);
  return 0;
}
static const char kLog[] = "aaco.hip:1:1: error: no such device library\n";
EXPORT int hiprtcGetProgramLogSize(void* program, size_t* bytes) {
  (void)program;
  *bytes = sizeof kLog;
  return 0;
}
EXPORT int hiprtcGetProgramLog(void* program, char* log) {
  (void)program;
  memcpy(log, kLog, sizeof kLog);
  return 0;
}
EXPORT int hiprtcDestroyProgram(void** program) {
  free(*program);
  return 0;
}
