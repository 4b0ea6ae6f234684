set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

# The build tree has the layout of an installation, so that the program finds its data the same way in both.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(AACO_SHARE_DIR ${CMAKE_BINARY_DIR}/share/aaco)

set(AACO_SANITIZE "" CACHE STRING "Sanitizers: address, thread, undefined (a list)")

add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=) # __FILE__ names no folder of the machine that compiled it

add_library(aaco_settings INTERFACE)
target_compile_options(aaco_settings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast -Wvla
  -Wno-missing-field-initializers) # designated initialisers leave the rest to its defaults on purpose
option(AACO_WARNINGS_AS_ERRORS "Warnings stop the build" ON)
if(AACO_WARNINGS_AS_ERRORS)
  target_compile_options(aaco_settings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of optional values that are set on every path it cannot follow.
  target_compile_options(aaco_settings INTERFACE -Wno-maybe-uninitialized -Wno-restrict
    -Wno-subobject-linkage) # and where sources are compiled as one, it takes each for a header
endif()
if(AACO_SANITIZE)
  string(REPLACE ";" "," sanitizers "${AACO_SANITIZE}")
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers})
endif()

find_program(AACO_CCACHE ccache)
if(AACO_CCACHE)
  # What ccache wants to know of precompiled headers: that no __TIME__ is in them, and that their macros may differ.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${AACO_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${AACO_CCACHE})
endif()
find_program(AACO_MOLD mold)
if(AACO_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
